use serde_json::json;

use super::*;

/// A theme file with all that is required, and what `change` does to it.
fn file(change: impl Fn(&mut Json)) -> String {
    let required = ThemeColor::ALL.iter().filter(|color| color.fallback().is_none());
    let colors: Map<String, Json> = required.map(|color| (color.name().to_owned(), json!("base"))).collect();
    let mut file = json!({"name": "mine", "vars": {"base": "#102030"}, "colors": colors});
    change(&mut file);
    file.to_string()
}

#[test]
fn a_file_gives_colours_through_variables_and_what_may_be_left_out() {
    let theme = Theme::parse(&file(|file| {
        file["$schema"] = json!("https://example.com/theme.json");
        file["appearance"] = json!("light");
        file["vars"]["more"] = json!("base");
        file["colors"]["accent"] = json!("more");
        file["colors"]["muted"] = json!(244);
        file["colors"]["text"] = json!("");
        file["colors"]["thinkingXhigh"] = json!("#fff");
        file["export"] = json!({"pageBg": "#000", "cardBg": "base"});
    }))
    .unwrap();
    assert_eq!((theme.name.as_str(), theme.appearance), ("mine", Appearance::Light));
    for (color, wanted) in [
        (ThemeColor::Accent, Color::Rgb(16, 32, 48)),
        (ThemeColor::Muted, Color::Indexed(244)),
        (ThemeColor::Text, Color::Reset),
        (ThemeColor::ScrollbarTrack, Color::Indexed(244)),
        (ThemeColor::ScrollbarThumb, Color::Reset),
        (ThemeColor::SearchMatchText, Color::Reset),
        (ThemeColor::ThinkingMax, Color::Rgb(255, 255, 255)),
    ] {
        assert_eq!(theme.color(color), wanted, "{}", color.name());
    }
}

#[test]
fn a_wrong_file_is_refused_with_the_key_that_is_wrong() {
    type Change = fn(&mut Json);
    let table: [(Change, &str); 15] = [
        (|file| file["color"] = json!({}), "color: is not a key"),
        (|file| file["colors"]["acent"] = json!("base"), "colors.acent: is not a key"),
        (|file| file["export"] = json!({"page": "base"}), "export.page: is not a key"),
        (|file| file["export"] = json!({"pageBg": "nowhere"}), "export.pageBg: there is no variable \"nowhere\""),
        (|file| drop(file.as_object_mut().unwrap().remove("name")), "name: is missing"),
        (|file| file["name"] = json!("a/b"), "name: must not have a /"),
        (|file| file["name"] = json!("system"), "name: \"system\" is taken"),
        (|file| file["appearance"] = json!("grey"), "appearance: is neither"),
        (|file| drop(file.as_object_mut().unwrap().remove("colors")), "colors: is missing"),
        (|file| drop(file["colors"].as_object_mut().unwrap().remove("dim")), "colors.dim: is missing"),
        (|file| file["colors"]["dim"] = json!("nowhere"), "colors.dim: there is no variable \"nowhere\""),
        (|file| file["colors"]["dim"] = json!("#12"), "colors.dim: \"#12\" is not #RGB"),
        (|file| file["vars"]["a"] = json!("a"), "vars.a: its variables lead to each other"),
        (|file| file["vars"] = json!([]), "vars: is not an object"),
        (|file| *file = json!([]), "the file: is not an object"),
    ];
    for (change, wanted) in table {
        let error = Theme::parse(&file(change)).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{error}, not {wanted}");
    }
    assert!(matches!(Theme::parse("{"), Err(ThemeError::Json(_))));
}
