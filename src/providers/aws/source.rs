//! Where credentials come from, as far as variables and files tell.
//!
//! In this order, which is that of Amazon's own SDK for JavaScript: the profile that `AWS_PROFILE` names (and then
//! nothing else), the keys in variables, the default profile, a web identity, a container. The machine's own metadata
//! service (EC2), logins that need a code (`mfa_serial`) and the renewal of single sign-ons are left out: the texts of
//! errors say so.

use std::path::PathBuf;

use ring::digest;

use super::{
    AwsCredentials, AwsError,
    profile::{Profiles, Section, in_home, selected},
    region,
    sigv4::hex,
};
use crate::providers::{Secret, environment::Environment};

/// Profiles that may take their credentials from one another.
const LONGEST_CHAIN: usize = 8;

/// Where credentials come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// They are here.
    Fixed(AwsCredentials),
    /// A command prints them.
    Process {
        /// The profile that names it.
        profile: String,
        /// The command, for a shell.
        command: String,
    },
    /// The container's own service has them.
    Container {
        /// Its address.
        url: String,
        /// What lets the container in.
        token: Option<ContainerToken>,
    },
    /// A role that a token in a file stands for.
    WebIdentity {
        /// The file.
        token_file: PathBuf,
        /// The role.
        role: Role,
    },
    /// A role that other credentials may take.
    AssumedRole {
        /// The other credentials.
        base: Box<Source>,
        /// The role.
        role: Role,
    },
    /// A login by `aws sso login`.
    SingleSignOn(SingleSignOn),
}

/// What a container shows to its service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerToken {
    /// The token.
    Text(Secret),
    /// A file with it, read for each request because it changes.
    File(PathBuf),
}

/// A role and how it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The role's name.
    pub arn: String,
    /// What the session is called in the account's logs.
    pub session_name: Option<String>,
    /// A shared word that some roles demand.
    pub external_id: Option<String>,
    /// How long it is wanted, in seconds.
    pub duration: Option<String>,
    /// The address of the token service.
    pub endpoint: String,
    /// The region of that address.
    pub region: String,
}

/// A login by `aws sso login`: what it stored and what is asked for with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleSignOn {
    /// The profile.
    pub profile: String,
    /// The file with the login's token.
    pub token_file: PathBuf,
    /// The address of the portal.
    pub endpoint: String,
    /// The account.
    pub account: String,
    /// The role in the account.
    pub role: String,
}

/// Finds where the credentials come from. Reads files, asks nobody.
///
/// # Errors
/// There are none, or what names them is not usable.
pub fn find(environment: &Environment) -> Result<Source, AwsError> {
    let profiles = Profiles::load(environment)?;
    let finder = Finder { environment, profiles: &profiles };
    if environment.get("AWS_PROFILE").is_some() {
        return finder.profile(selected(environment), &mut Vec::new());
    }
    if let Some(credentials) = finder.keys_in_variables() {
        return Ok(Source::Fixed(credentials));
    }
    // A default profile may be there for its region alone.
    if profiles.get("default").is_some_and(has_credentials) {
        return finder.profile("default", &mut Vec::new());
    }
    let others = finder.web_identity_in_variables().or_else(|| finder.container());
    others.ok_or_else(|| {
        AwsError::new(
            "no AWS credentials in AWS_PROFILE, AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, the default profile, AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN, or AWS_CONTAINER_CREDENTIALS_…: set one of them, or AWS_BEARER_TOKEN_BEDROCK (the metadata service of EC2 machines is not asked)",
        )
    })
}

struct Finder<'a> {
    environment: &'a Environment,
    profiles: &'a Profiles,
}

impl Finder<'_> {
    fn keys_in_variables(&self) -> Option<AwsCredentials> {
        let get = |name: &str| self.environment.get(name);
        Some(AwsCredentials {
            access_key_id: get("AWS_ACCESS_KEY_ID")?.trim().to_owned(),
            secret_access_key: Secret::new(get("AWS_SECRET_ACCESS_KEY")?),
            session_token: get("AWS_SESSION_TOKEN").map(Secret::new),
        })
    }

    fn web_identity_in_variables(&self) -> Option<Source> {
        let get = |name: &str| self.environment.get(name).map(str::to_owned);
        let token_file = get("AWS_WEB_IDENTITY_TOKEN_FILE")?.into();
        let role = self.role(get("AWS_ROLE_ARN")?, get("AWS_ROLE_SESSION_NAME"), &Section::new());
        Some(Source::WebIdentity { token_file, role })
    }

    fn container(&self) -> Option<Source> {
        const SERVICE: &str = "http://169.254.170.2";
        let get = |name: &str| self.environment.get(name);
        let url = match get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            Some(path) => format!("{SERVICE}{path}"),
            None => get("AWS_CONTAINER_CREDENTIALS_FULL_URI")?.to_owned(),
        };
        let file = get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").map(|path| ContainerToken::File(path.into()));
        let text = || get("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(|token| ContainerToken::Text(Secret::new(token)));
        Some(Source::Container { url, token: file.or_else(text) })
    }

    /// The credentials of a profile. `seen` holds the profiles that led here.
    fn profile(&self, name: &str, seen: &mut Vec<String>) -> Result<Source, AwsError> {
        let wrong = |what: &str| AwsError::new(format!("the AWS profile \"{name}\" {what}"));
        let section = self.profiles.get(name).ok_or_else(|| {
            wrong("is neither in ~/.aws/config nor in ~/.aws/credentials: check AWS_PROFILE and source_profile")
        })?;
        let get = |key: &str| section.get(key).filter(|value| !value.is_empty());
        let fixed = fixed(section);
        // A profile may name itself as the source of its role.
        if let (Some(credentials), false) = (&fixed, seen.is_empty()) {
            return Ok(Source::Fixed(credentials.clone()));
        }
        if seen.iter().any(|known| known == name) || seen.len() >= LONGEST_CHAIN {
            return Err(wrong("takes its credentials from itself: check source_profile"));
        }
        seen.push(name.to_owned());
        if let Some(arn) = get("role_arn") {
            let role = || self.role(arn.clone(), get("role_session_name").cloned(), section);
            if get("mfa_serial").is_some() {
                return Err(wrong(
                    "needs a code (mfa_serial), which nobody can be asked for here: use credential_process or temporary keys",
                ));
            }
            if let Some(source) = get("source_profile") {
                let base = Box::new(self.profile(source, seen)?);
                return Ok(Source::AssumedRole { base, role: role() });
            }
            if let Some(source) = get("credential_source") {
                let base = match source.as_str() {
                    "Environment" => self.keys_in_variables().map(Source::Fixed),
                    "EcsContainer" => self.container(),
                    _ => None,
                };
                let base = base.ok_or_else(|| {
                    wrong(&format!(
                        "has credential_source = {source}, which gives nothing here (Environment and EcsContainer are understood)"
                    ))
                })?;
                return Ok(Source::AssumedRole { base: Box::new(base), role: role() });
            }
            if let Some(token_file) = get("web_identity_token_file") {
                return Ok(Source::WebIdentity { token_file: token_file.into(), role: role() });
            }
        }
        if let Some(credentials) = fixed {
            return Ok(Source::Fixed(credentials));
        }
        if let Some(command) = get("credential_process") {
            return Ok(Source::Process { profile: name.to_owned(), command: command.clone() });
        }
        if let Some(login) = self.single_sign_on(name, section)? {
            return Ok(Source::SingleSignOn(login));
        }
        Err(wrong(
            "has no credentials that can be used: aws_access_key_id with aws_secret_access_key, role_arn with source_profile, credential_process or sso_session (console logins of `aws login` are not understood)",
        ))
    }

    fn role(&self, arn: String, session_name: Option<String>, section: &Section) -> Role {
        let setting = |key: &str| section.get(key).filter(|value| !value.is_empty()).cloned();
        let region = region::of_variables(self.environment)
            .map(str::to_owned)
            .or_else(|| setting("region"))
            .unwrap_or_else(|| region::FALLBACK.to_owned());
        Role {
            endpoint: region::endpoint(self.environment, "AWS_ENDPOINT_URL_STS", "sts", &region),
            arn,
            session_name,
            external_id: setting("external_id"),
            duration: setting("duration_seconds"),
            region,
        }
    }

    fn single_sign_on(&self, name: &str, section: &Section) -> Result<Option<SingleSignOn>, AwsError> {
        let wrong = |what: &str| AwsError::new(format!("the AWS profile \"{name}\" {what}"));
        let own = |key: &str| section.get(key).filter(|value| !value.is_empty());
        // The token is stored under the session's name, or under the start address.
        let (key, shared) = match (own("sso_session"), own("sso_start_url")) {
            (Some(session), _) => {
                let shared = self.profiles.sso_session(session);
                (
                    session,
                    shared.ok_or_else(|| wrong(&format!("names the sso-session \"{session}\", which is not there")))?,
                )
            }
            (None, Some(url)) => (url, section),
            (None, None) => return Ok(None),
        };
        let of = |from: &Section, setting: &str| {
            from.get(setting).cloned().ok_or_else(|| wrong(&format!("is a single sign-on without {setting}")))
        };
        let region = of(shared, "sso_region")?;
        let hash = hex(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes()).as_ref());
        let token_file = in_home(self.environment, &format!("sso/cache/{hash}.json"));
        Ok(Some(SingleSignOn {
            profile: name.to_owned(),
            token_file: token_file
                .ok_or_else(|| wrong("is a single sign-on, whose login is kept in HOME, which is not set"))?,
            endpoint: region::endpoint(self.environment, "AWS_ENDPOINT_URL_SSO", "portal.sso", &region),
            account: of(section, "sso_account_id")?,
            role: of(section, "sso_role_name")?,
        }))
    }
}

fn has_credentials(section: &Section) -> bool {
    ["aws_access_key_id", "role_arn", "credential_process", "sso_session", "sso_start_url"]
        .iter()
        .any(|key| section.get(*key).is_some_and(|value| !value.is_empty()))
}

fn fixed(section: &Section) -> Option<AwsCredentials> {
    let get = |key: &str| section.get(key).filter(|value| !value.is_empty());
    Some(AwsCredentials {
        access_key_id: get("aws_access_key_id")?.clone(),
        secret_access_key: Secret::new(get("aws_secret_access_key")?),
        session_token: get("aws_session_token").map(|token| Secret::new(token)),
    })
}

#[cfg(test)]
mod tests;
