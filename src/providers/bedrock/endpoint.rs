//! Where a request goes: the region's own endpoint, or an address that someone set.

use crate::{
    protocol::Model,
    providers::{
        aws::{region, sigv4::percent_encode},
        environment::Environment,
        wire_api::join_url,
    },
};

/// Stands in a base address for the region.
const PLACEHOLDER: &str = "{region}";
/// Sets another address for all models whose base address is Amazon's own.
const VARIABLE: &str = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME";

/// The address of a call, and the region that it is signed for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) region: String,
}

impl Endpoint {
    /// The region is, in this order: that of an ARN in the model's id, that of variables, that of the base address
    /// when it is one of Amazon's own, that of the profile, `us-east-1`.
    pub(super) fn of(model: &Model, environment: &Environment) -> Self {
        let standard = Standard::read(&model.base_url);
        let pinned = standard.as_ref().map(|standard| standard.region).filter(|region| *region != PLACEHOLDER);
        let known = region::of_arn(&model.id).or_else(|| region::of_variables(environment)).or(pinned);
        let region = known.map(str::to_owned).or_else(|| region::of_profile(environment));
        let region = region.unwrap_or_else(|| region::FALLBACK.to_owned());
        let base = match (standard, environment.get(VARIABLE)) {
            (None, _) if !model.base_url.trim().is_empty() => model.base_url.clone(),
            (_, Some(set)) => set.to_owned(),
            (Some(standard), None) => standard.in_region(&region),
            (None, None) => format!("https://bedrock-runtime.{region}.{}", region::domain(&region)),
        };
        Self { url: join_url(&base, &format!("/model/{}/converse-stream", percent_encode(&model.id))), region }
    }
}

/// One of Amazon's own addresses: `https://bedrock-runtime[-fips].REGION.DOMAIN`.
struct Standard<'a> {
    service: &'a str,
    region: &'a str,
    domain: &'a str,
}

impl<'a> Standard<'a> {
    fn read(base: &'a str) -> Option<Self> {
        let host = base.trim().trim_end_matches('/').strip_prefix("https://")?;
        let (service, rest) = host.split_once('.')?;
        let (region, domain) = rest.split_once('.')?;
        let is_own = matches!(service, "bedrock-runtime" | "bedrock-runtime-fips")
            && matches!(domain, "amazonaws.com" | "amazonaws.com.cn" | "amazonaws.eu" | "api.aws");
        is_own.then_some(Self { service, region, domain })
    }

    fn in_region(&self, region: &str) -> String {
        let domain = if self.domain == "api.aws" { self.domain } else { region::domain(region) };
        format!("https://{}.{region}.{domain}", self.service)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::testing::plain_model;

    /// Model, base address, variables; the address without the path, and the region.
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

    const US: &str = "https://bedrock-runtime.us-east-1.amazonaws.com";

    fn endpoint(id: &str, base_url: &str, variables: &[(&str, &str)]) -> Endpoint {
        let mut model = plain_model("bedrock-converse-stream");
        (model.id, model.base_url) = (id.into(), base_url.into());
        Endpoint::of(&model, &variables.iter().copied().collect())
    }

    #[test]
    fn the_region_is_looked_for_in_order_and_a_foreign_address_stays() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config");
        std::fs::write(&config, "[profile p]\nregion = eu-south-1\n").unwrap();
        let profile = [("AWS_PROFILE", "p"), ("AWS_CONFIG_FILE", config.to_str().unwrap())];
        let arn = "arn:aws:bedrock:eu-west-3:1:inference-profile/x";
        let region = [("AWS_REGION", "eu-west-1"), ("AWS_DEFAULT_REGION", "eu-west-2")];
        let own = [("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://localhost:9/own/")];
        let proxy = "http://127.0.0.1:8080/prefix/";
        let table: &[Row<'_>] = &[
            ("m", US, &[], US, "us-east-1"),
            ("m", US, &region, "https://bedrock-runtime.eu-west-1.amazonaws.com", "eu-west-1"),
            ("m", US, &region[1..], "https://bedrock-runtime.eu-west-2.amazonaws.com", "eu-west-2"),
            (arn, US, &region, "https://bedrock-runtime.eu-west-3.amazonaws.com", "eu-west-3"),
            (
                "m",
                "https://bedrock-runtime.eu-north-1.amazonaws.com/",
                &profile,
                "https://bedrock-runtime.eu-north-1.amazonaws.com",
                "eu-north-1",
            ),
            (
                "m",
                "https://bedrock-runtime.{region}.amazonaws.com",
                &profile,
                "https://bedrock-runtime.eu-south-1.amazonaws.com",
                "eu-south-1",
            ),
            ("m", "", &profile, "https://bedrock-runtime.eu-south-1.amazonaws.com", "eu-south-1"),
            ("m", "", &[], US, "us-east-1"),
            (
                "m",
                US,
                &[("AWS_REGION", "cn-north-1")],
                "https://bedrock-runtime.cn-north-1.amazonaws.com.cn",
                "cn-north-1",
            ),
            (
                "m",
                "https://bedrock-runtime-fips.us-east-1.amazonaws.com",
                &[("AWS_REGION", "us-gov-west-1")],
                "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
                "us-gov-west-1",
            ),
            ("m", proxy, &region, "http://127.0.0.1:8080/prefix", "eu-west-1"),
            ("m", proxy, &[], "http://127.0.0.1:8080/prefix", "us-east-1"),
            (arn, proxy, &own, "http://127.0.0.1:8080/prefix", "eu-west-3"),
            (
                "m",
                "https://vpce-1.bedrock-runtime.us-west-2.vpce.amazonaws.com",
                &region,
                "https://vpce-1.bedrock-runtime.us-west-2.vpce.amazonaws.com",
                "eu-west-1",
            ),
            ("m", US, &own, "http://localhost:9/own", "us-east-1"),
        ];
        for (id, base, variables, url, region) in table {
            let expected = Endpoint {
                url: format!("{url}/model/{}/converse-stream", percent_encode(id)),
                region: (*region).to_owned(),
            };
            assert_eq!(endpoint(id, base, variables), expected, "{id} {base} {variables:?}");
        }
    }

    #[test]
    fn colons_and_slashes_of_a_model_id_are_encoded() {
        let url = endpoint("arn:aws:bedrock:us-east-1:1:inference-profile/us.x-v1:0", US, &[]).url;
        assert!(
            url.ends_with(
                "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.x-v1%3A0/converse-stream"
            ),
            "{url}"
        );
    }
}
