//! `auth list`: the providers that can be used, and where their credentials are. No key is ever printed.

use serde_json::{Map, Value};

use super::args::ListArgs;
use crate::{
    cli::{exit::Exit, run::print},
    protocol::time::{Millis, iso, now_ms},
    providers::{catalogue::Catalogue, credentials::Source},
};

pub(super) fn run(catalogue: &Catalogue, args: &ListArgs) -> Result<Exit, String> {
    let credentials = catalogue.credentials();
    let mut ids: Vec<String> = catalogue.providers().iter().map(|provider| provider.id.clone()).collect();
    // Entries of providers that models.json no longer has are keys too.
    ids.extend(credentials.stored_providers().into_iter().filter(|id| catalogue.provider(id).is_none()));
    let found: Vec<(String, Source)> =
        ids.into_iter().filter_map(|id| credentials.source(&id).map(|source| (id, source))).collect();
    Ok(print(&if args.json { json_of(&found) } else { table(&found, now_ms()) }))
}

fn table(found: &[(String, Source)], now: Millis) -> String {
    if found.is_empty() {
        return "No credentials. `troupe auth login PROVIDER` stores some.\n".to_owned();
    }
    let head = ["provider", "kind", "source", "expires"].map(str::to_owned);
    let row = |(id, source): &(String, Source)| {
        let missing = source.missing.iter().map(|name| format!(" ({name} is not set)"));
        let place = missing.fold(source.place.clone(), |place, note| place + &note);
        [id.clone(), source.kind.as_str().to_owned(), place, expiry(source.expires, now)]
    };
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(found.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2)];
    let line = |[provider, kind, place, expires]: &[String; 4]| {
        let [a, b, c] = widths;
        let line = format!("{provider:a$}  {kind:b$}  {place:c$}  {expires}");
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn expiry(expires: Option<Millis>, now: Millis) -> String {
    match expires {
        None => String::new(),
        Some(time) if time <= now => format!("{} (renewed when needed)", iso(time)),
        Some(time) => iso(time),
    }
}

fn json_of(found: &[(String, Source)]) -> String {
    let entry = |(id, source): &(String, Source)| {
        let mut entry = Map::from_iter([
            ("provider".to_owned(), Value::from(id.as_str())),
            ("kind".to_owned(), source.kind.as_str().into()),
            ("source".to_owned(), source.place.as_str().into()),
        ]);
        if let Some(expires) = source.expires {
            entry.insert("expires".to_owned(), expires.into());
        }
        if let Some(missing) = &source.missing {
            entry.insert("missingVariable".to_owned(), missing.as_str().into());
        }
        Value::Object(entry)
    };
    format!("{:#}\n", Value::Array(found.iter().map(entry).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::credentials::Kind;

    fn source(kind: Kind, place: &str) -> Source {
        Source { kind, place: place.into(), expires: None, missing: None }
    }

    #[test]
    fn the_table_says_what_is_where_and_until_when() {
        let found = [
            ("groq".to_owned(), source(Kind::ApiKey, "GROQ_API_KEY")),
            ("x".to_owned(), Source { missing: Some("X".into()), ..source(Kind::ApiKey, "auth.json") }),
            ("anthropic".to_owned(), Source { expires: Some(1000), ..source(Kind::Login, "auth.json") }),
        ];
        let expected = "provider   kind     source                    expires\n\
                        groq       api_key  GROQ_API_KEY\n\
                        x          api_key  auth.json (X is not set)\n\
                        anthropic  oauth    auth.json                 1970-01-01T00:00:01.000Z\n";
        assert_eq!(table(&found, 0), expected);
        assert!(table(&found, 5000).contains("(renewed when needed)"));
        assert!(table(&[], 0).starts_with("No credentials."));
    }
}
