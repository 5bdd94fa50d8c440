//! Which region a request goes to, and the names of its hosts.

use super::profile::{self, Profiles};
use crate::providers::environment::Environment;

/// The region when nothing says another.
pub const FALLBACK: &str = "us-east-1";

/// The region that variables set.
#[must_use]
pub fn of_variables(environment: &Environment) -> Option<&str> {
    environment.get("AWS_REGION").or_else(|| environment.get("AWS_DEFAULT_REGION"))
}

/// The region of the profile that is in use. Reads files; one that cannot be read says nothing.
#[must_use]
pub fn of_profile(environment: &Environment) -> Option<String> {
    let profiles = Profiles::load(environment).ok()?;
    profiles.get(profile::selected(environment))?.get("region").filter(|region| !region.is_empty()).cloned()
}

/// The region of a resource name: `arn:PARTITION:SERVICE:REGION:…`.
#[must_use]
pub fn of_arn(name: &str) -> Option<&str> {
    let mut parts = name.split(':');
    (parts.next()? == "arn").then(|| parts.nth(2)).flatten().filter(|region| !region.is_empty())
}

/// The domain of a region's hosts.
#[must_use]
pub fn domain(region: &str) -> &'static str {
    if region.starts_with("cn-") {
        "amazonaws.com.cn"
    } else if region.starts_with("eusc-") {
        "amazonaws.eu"
    } else {
        "amazonaws.com"
    }
}

/// The address of a service: what its variable (`AWS_ENDPOINT_URL_…`) sets, or its host in the region.
#[must_use]
pub fn endpoint(environment: &Environment, variable: &str, host: &str, region: &str) -> String {
    match environment.get(variable) {
        Some(url) => url.trim().trim_end_matches('/').to_owned(),
        None => format!("https://{host}.{region}.{}", domain(region)),
    }
}

/// True for the United States' government regions, which differ in what models take.
#[must_use]
pub fn is_government(region: &str) -> bool {
    region.starts_with("us-gov-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_found_where_they_stand() {
        let table = [
            ("arn:aws:bedrock:eu-west-1:1234:application-inference-profile/abc", Some("eu-west-1")),
            ("arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/x", Some("us-gov-west-1")),
            ("arn:aws:iam::1234:role/x", None),
            ("us.anthropic.claude-v1:0", None),
            ("arn:aws", None),
        ];
        for (name, region) in table {
            assert_eq!(of_arn(name), region, "{name}");
        }
        let environment: Environment = [("AWS_REGION", " "), ("AWS_DEFAULT_REGION", "eu-west-2")].into_iter().collect();
        assert_eq!(of_variables(&environment), Some("eu-west-2"));
    }

    #[test]
    fn a_services_address_follows_the_region_unless_a_variable_names_it() {
        let set: Environment = [("AWS_ENDPOINT_URL_STS", "http://localhost:1/")].into_iter().collect();
        let none = Environment::default();
        let sts =
            |environment: &Environment, region: &str| endpoint(environment, "AWS_ENDPOINT_URL_STS", "sts", region);
        assert_eq!(sts(&set, "eu-west-1"), "http://localhost:1");
        assert_eq!(sts(&none, "eu-west-1"), "https://sts.eu-west-1.amazonaws.com");
        assert_eq!(sts(&none, "cn-north-1"), "https://sts.cn-north-1.amazonaws.com.cn");
    }

    #[test]
    fn the_profile_in_use_says_its_region() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config");
        std::fs::write(&config, "[default]\nregion = a\n[profile dev]\nregion = b\n[profile none]\n").unwrap();
        let table = [(None, Some("a")), (Some("dev"), Some("b")), (Some("none"), None), (Some("other"), None)];
        for (profile, region) in table {
            let variables = [("AWS_CONFIG_FILE", config.to_str().unwrap())].into_iter();
            let environment = variables.chain(profile.map(|name| ("AWS_PROFILE", name))).collect();
            assert_eq!(of_profile(&environment).as_deref(), region, "{profile:?}");
        }
    }
}
