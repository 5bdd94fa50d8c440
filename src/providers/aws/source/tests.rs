use super::*;

/// A home folder with the two files.
struct Home(tempfile::TempDir);

impl Home {
    fn new(config: &str, credentials: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let aws = dir.path().join(".aws");
        std::fs::create_dir(&aws).unwrap();
        std::fs::write(aws.join("config"), config).unwrap();
        std::fs::write(aws.join("credentials"), credentials).unwrap();
        Self(dir)
    }

    fn find(&self, variables: &[(&str, &str)]) -> Result<Source, AwsError> {
        let home = ("HOME", self.0.path().to_str().unwrap());
        find(&variables.iter().copied().chain([home]).collect())
    }
}

fn fixed_keys(id: &str, secret: &str, token: Option<&str>) -> Source {
    Source::Fixed(AwsCredentials {
        access_key_id: id.into(),
        secret_access_key: Secret::new(secret),
        session_token: token.map(Secret::new),
    })
}

const KEYS: [(&str, &str); 3] =
    [("AWS_ACCESS_KEY_ID", "env-id"), ("AWS_SECRET_ACCESS_KEY", "env-secret"), ("AWS_SESSION_TOKEN", "env-token")];
const DEFAULT: &str = "[default]\naws_access_key_id = default-id\naws_secret_access_key = default-secret\n";

#[test]
fn sources_are_looked_for_in_order() {
    let home = Home::new("[profile dev]\ncredential_process = give\n", DEFAULT);
    let empty = Home::new("[default]\nregion = eu-west-1\n", "");
    let web = [("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"), ("AWS_ROLE_ARN", "arn:r"), ("AWS_ROLE_SESSION_NAME", "s")];
    let container = [("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x")];
    let all = |parts: &[&[(&'static str, &'static str)]]| parts.concat();

    let dev = Source::Process { profile: "dev".into(), command: "give".into() };
    assert_eq!(home.find(&all(&[&KEYS, &[("AWS_PROFILE", "dev")]])), Ok(dev));
    assert_eq!(home.find(&all(&[&KEYS, &web])), Ok(fixed_keys("env-id", "env-secret", Some("env-token"))));
    assert_eq!(home.find(&KEYS[..2]), Ok(fixed_keys("env-id", "env-secret", None)));
    // One of two keys is none.
    assert_eq!(home.find(&all(&[&KEYS[..1], &web])), Ok(fixed_keys("default-id", "default-secret", None)));
    let Ok(Source::WebIdentity { token_file, role }) = empty.find(&all(&[&web, &container])) else { panic!() };
    assert_eq!(
        (token_file.to_str(), role.arn.as_str(), role.session_name.as_deref()),
        (Some("/t"), "arn:r", Some("s"))
    );
    assert_eq!(role.endpoint, "https://sts.us-east-1.amazonaws.com");
    let container = empty.find(&container);
    assert_eq!(container, Ok(Source::Container { url: "http://169.254.170.2/v2/x".into(), token: None }));
    let nothing = empty.find(&[]).unwrap_err().to_string();
    assert!(nothing.contains("AWS_PROFILE") && nothing.contains("EC2"), "{nothing}");
}

#[test]
fn a_container_shows_its_token() {
    let home = Home::new("", "");
    let full = ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost:1/x");
    let text = ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "tok");
    let file = ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/f");
    let token = |variables: &[(&str, &str)]| match home.find(variables) {
        Ok(Source::Container { token, .. }) => token,
        other => panic!("{other:?}"),
    };
    assert_eq!(token(&[full]), None);
    assert_eq!(token(&[full, text]), Some(ContainerToken::Text(Secret::new("tok"))));
    assert_eq!(token(&[full, text, file]), Some(ContainerToken::File("/f".into())));
}

#[test]
fn a_profile_may_take_a_role_with_anothers_credentials() {
    let config = "
[default]
role_arn = arn:self
source_profile = default
[profile top]
role_arn = arn:top
source_profile = middle
external_id = word
duration_seconds = 900
region = eu-west-1
[profile middle]
role_arn = arn:middle
source_profile = default
role_session_name = me
[profile env]
role_arn = arn:env
credential_source = Environment
[profile token]
role_arn = arn:token
web_identity_token_file = /t
[profile round]
role_arn = arn:round
source_profile = about
[profile about]
role_arn = arn:about
source_profile = round
[profile ec2]
role_arn = arn:x
credential_source = Ec2InstanceMetadata
[profile mfa]
role_arn = arn:x
source_profile = default
mfa_serial = arn:mfa
[profile lost]
role_arn = arn:x
source_profile = nobody
[profile empty]
region = eu-west-1
";
    let home = Home::new(config, DEFAULT);
    let profile = |name: &str| home.find(&[("AWS_PROFILE", name), KEYS[0], KEYS[1]]);
    let Ok(Source::AssumedRole { base, role }) = profile("top") else { panic!() };
    assert_eq!(
        (role.arn.as_str(), role.external_id.as_deref(), role.duration.as_deref()),
        ("arn:top", Some("word"), Some("900"))
    );
    assert_eq!((role.region.as_str(), role.endpoint.as_str()), ("eu-west-1", "https://sts.eu-west-1.amazonaws.com"));
    let Source::AssumedRole { base, role } = *base else { panic!() };
    assert_eq!((role.arn.as_str(), role.session_name.as_deref()), ("arn:middle", Some("me")));
    // As a source the default profile gives its keys, though it has a role of its own.
    assert_eq!(*base, fixed_keys("default-id", "default-secret", None));
    let Ok(Source::AssumedRole { base, .. }) = profile("default") else { panic!() };
    assert_eq!(*base, fixed_keys("default-id", "default-secret", None));
    let Ok(Source::AssumedRole { base, .. }) = profile("env") else { panic!() };
    assert_eq!(*base, fixed_keys("env-id", "env-secret", None));
    assert!(matches!(profile("token"), Ok(Source::WebIdentity { .. })));
    let table = [
        ("round", "from itself"),
        ("ec2", "Ec2InstanceMetadata"),
        ("mfa", "mfa_serial"),
        ("lost", "\"nobody\""),
        ("nobody", "AWS_PROFILE"),
        ("empty", "credential_process"),
    ];
    for (name, said) in table {
        let error = profile(name).unwrap_err().to_string();
        assert!(error.contains(said), "{name}: {error}");
    }
}

#[test]
fn a_single_sign_on_is_found_with_its_stored_login() {
    let config = "
[profile new]
sso_session = corp
sso_account_id = 1234
sso_role_name = dev
[sso-session corp]
sso_start_url = https://corp.example/start
sso_region = eu-west-1
[profile old]
sso_start_url = https://corp.example/start
sso_region = eu-west-1
sso_account_id = 1234
sso_role_name = dev
[profile half]
sso_session = corp
sso_account_id = 1234
[profile gone]
sso_session = other
";
    let home = Home::new(config, "");
    let profile = |name: &str| home.find(&[("AWS_PROFILE", name)]);
    // The names of the files are SHA-1 of the session's name and of the start address.
    let table =
        [("new", "ee0bfd2552fbd840c02cc48b6e823320543c450f"), ("old", "f7c9b39d0b4c7a7d82c79307585f77e1c5e74378")];
    for (name, hash) in table {
        let Ok(Source::SingleSignOn(login)) = profile(name) else { panic!("{name}") };
        assert_eq!((login.account.as_str(), login.role.as_str()), ("1234", "dev"));
        assert_eq!(login.endpoint, "https://portal.sso.eu-west-1.amazonaws.com");
        let file = login.token_file.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(file, format!("{hash}.json"), "{name}");
        assert!(login.token_file.starts_with(home.0.path().join(".aws/sso/cache")));
    }
    assert!(profile("half").unwrap_err().to_string().contains("sso_role_name"));
    assert!(profile("gone").unwrap_err().to_string().contains("\"other\""));
}
