//! Addresses with placeholders: `https://host/accounts/{account}/ai`.
//!
//! A placeholder stands for a variable of the provider's environment: one of those below, or the variable of that name
//! (`{MY_GATEWAY}`). Braces around anything else are left alone.

use super::environment::Environment;

/// Placeholders that are no variables' names, and the variables that they stand for.
const SHORT: [(&str, &str); 2] = [("account", "CLOUDFLARE_ACCOUNT_ID"), ("gateway", "CLOUDFLARE_GATEWAY_ID")];

/// Google's region, in front of the host's name.
const LOCATION: &str = "location";
const LOCATION_VARIABLE: &str = "GOOGLE_CLOUD_LOCATION";

/// An address needs a variable that is not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the address {template} needs the variable {variable}: set it, or add it as env to the provider's entry in auth.json"
)]
pub struct MissingPart {
    /// The address as the model has it.
    pub template: String,
    /// The variable.
    pub variable: String,
}

/// The address with its placeholders filled in; none when it has no placeholder. `environment` is asked for only when
/// there is one.
///
/// # Errors
/// A variable is not set.
pub fn expand(template: &str, environment: impl FnOnce() -> Environment) -> Result<Option<String>, MissingPart> {
    if !template.contains('{') {
        return Ok(None);
    }
    let environment = environment();
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            rest = &rest[before.len()..];
            break;
        };
        rest = behind;
        if name == LOCATION {
            match environment.get(LOCATION_VARIABLE).map(str::trim) {
                Some(location) if location != "global" => out.push_str(location),
                // The host without a region in front of it serves all of them, and those who name none.
                _ => rest = behind.strip_prefix('-').unwrap_or(behind),
            }
            continue;
        }
        let short = SHORT.iter().find(|(short, _)| *short == name).map(|(_, variable)| *variable);
        let Some(variable) = short.or(is_variable(name).then_some(name)) else {
            out.extend(["{", name, "}"]);
            continue;
        };
        let value = environment.get(variable);
        let missing = || MissingPart { template: template.to_owned(), variable: variable.to_owned() };
        out.push_str(value.ok_or_else(missing)?.trim());
    }
    out.push_str(rest);
    Ok(Some(out))
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_stand_for_variables() {
        let set = [
            ("CLOUDFLARE_ACCOUNT_ID", " acc "),
            ("CLOUDFLARE_GATEWAY_ID", "gw"),
            ("GOOGLE_CLOUD_LOCATION", "us-east5"),
            ("HOST", "h.test"),
        ];
        let table = [
            ("https://x.test/v1", Ok(None)),
            ("", Ok(None)),
            ("https://a.test/{account}/{gateway}/compat", Ok(Some("https://a.test/acc/gw/compat"))),
            ("https://a.test/{CLOUDFLARE_ACCOUNT_ID}", Ok(Some("https://a.test/acc"))),
            ("https://{location}-ai.test", Ok(Some("https://us-east5-ai.test"))),
            ("https://{HOST}/v1", Ok(Some("https://h.test/v1"))),
            ("https://{NOT_SET}/v1", Err("needs the variable NOT_SET: set it")),
            ("https://x.test/{other}/{", Ok(Some("https://x.test/{other}/{"))),
        ];
        for (template, expected) in table {
            let found = expand(template, || set.into_iter().collect());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found.as_deref(), expected, "{template}"),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
                (found, expected) => panic!("{template}: {found:?} instead of {expected:?}"),
            }
        }
    }

    #[test]
    fn the_global_location_has_a_host_of_its_own() {
        let host = "https://{location}-aiplatform.googleapis.com";
        for environment in [&[][..], &[("GOOGLE_CLOUD_LOCATION", "global")]] {
            let found = expand(host, || environment.iter().copied().collect());
            assert_eq!(found.unwrap().as_deref(), Some("https://aiplatform.googleapis.com"));
        }
    }
}
