//! The files of Amazon's command line: `~/.aws/config` and `~/.aws/credentials`.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
};

use super::AwsError;
use crate::providers::environment::Environment;

/// The settings of a section; names in lower case.
pub type Section = HashMap<String, String>;

/// The profiles of both files. Where both have a setting, that of `credentials` counts.
#[derive(Clone, Default)]
pub struct Profiles {
    profiles: HashMap<String, Section>,
    sso_sessions: HashMap<String, Section>,
}

impl Profiles {
    /// Reads the files that the environment names, or those in the home folder. A file that is not there is empty.
    ///
    /// # Errors
    /// A file is there and cannot be read.
    pub fn load(environment: &Environment) -> Result<Self, AwsError> {
        let mut all = Self::default();
        for (variable, name) in [("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")] {
            let Some(path) = place(environment, variable, name) else { continue };
            let text = read(&path)?;
            all.add(&text, name == "config");
        }
        Ok(all)
    }

    /// A profile's settings.
    #[must_use]
    pub fn get(&self, profile: &str) -> Option<&Section> {
        self.profiles.get(profile)
    }

    /// The settings of a single sign-on that profiles share.
    #[must_use]
    pub fn sso_session(&self, name: &str) -> Option<&Section> {
        self.sso_sessions.get(name)
    }

    fn add(&mut self, text: &str, is_config: bool) {
        for (header, settings) in sections(text) {
            let (kind, name) = header.split_once(char::is_whitespace).unwrap_or(("", header));
            let name = name.trim().trim_matches(['"', '\'']);
            let group = match (kind, is_config) {
                // In `config` only the default profile goes without the word.
                ("profile", true) => &mut self.profiles,
                ("sso-session", true) => &mut self.sso_sessions,
                ("", true) if name == "default" => &mut self.profiles,
                ("", false) => &mut self.profiles,
                _ => continue,
            };
            group.entry(name.to_owned()).or_default().extend(settings);
        }
    }
}

/// The profile that is in use.
#[must_use]
pub fn selected(environment: &Environment) -> &str {
    environment.get("AWS_PROFILE").unwrap_or("default")
}

/// A file of the folder `~/.aws`.
pub(super) fn in_home(environment: &Environment, path: &str) -> Option<PathBuf> {
    environment.get("HOME").map(|home| Path::new(home).join(".aws").join(path))
}

fn place(environment: &Environment, variable: &str, name: &str) -> Option<PathBuf> {
    environment.get(variable).map(PathBuf::from).or_else(|| in_home(environment, name))
}

fn read(path: &Path) -> Result<String, AwsError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(String::new())
        }
        Err(error) => Err(AwsError::new(format!("{} cannot be read: {error}", path.display()))),
    }
}

/// The sections of a file in order. Lines that are indented belong to groups of settings that nothing here needs.
fn sections(text: &str) -> Vec<(&str, Section)> {
    let mut found: Vec<(&str, Section)> = Vec::new();
    for line in text.trim_start_matches('\u{FEFF}').lines() {
        if line.trim().is_empty() || line.starts_with(['#', ';', ' ', '\t']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            found.push((header.split(']').next().unwrap_or_default().trim(), Section::new()));
        } else if let (Some((_, section)), Some((name, value))) = (found.last_mut(), line.split_once('=')) {
            section.insert(name.trim().to_ascii_lowercase(), without_comment(value).trim().to_owned());
        }
    }
    found
}

/// A comment begins with a space before its sign: keys may hold the sign itself.
fn without_comment(value: &str) -> &str {
    let ends = [" #", " ;", "\t#", "\t;"].iter().filter_map(|sign| value.find(sign));
    ends.min().map_or(value, |end| &value[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_make_the_profiles() {
        let mut all = Profiles::default();
        all.add(
            "\u{FEFF}# comment\n[default]\nregion = eu-west-1 # here\n[profile dev]\nRole_Arn=arn:x\ns3 =\n  region = nested\n[profile \"two words\"]\nregion=a\n[stray]\nregion=b\n[sso-session corp]\nsso_region = us-east-1\n[services x]\nregion=c\n",
            true,
        );
        all.add("[default]\r\naws_access_key_id = AKIA\r\naws_secret_access_key = a#b;c=\r\n[dev]\naws_session_token = t ; old\n[profile odd]\nx=y\nno setting\n", false);
        let get =
            |profile: &str, name: &str| all.get(profile).and_then(|section| section.get(name)).map(String::as_str);
        assert_eq!(get("default", "region"), Some("eu-west-1"));
        assert_eq!(get("default", "aws_secret_access_key"), Some("a#b;c="));
        assert_eq!(
            (get("dev", "role_arn"), get("dev", "aws_session_token"), get("dev", "region")),
            (Some("arn:x"), Some("t"), None)
        );
        assert_eq!(get("two words", "region"), Some("a"));
        assert!(all.get("stray").is_none() && all.get("odd").is_none() && all.get("x").is_none());
        assert_eq!(all.sso_session("corp").map(|section| section["sso_region"].as_str()), Some("us-east-1"));
    }

    #[test]
    fn files_are_found_by_variable_or_home_and_need_not_exist() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap();
        std::fs::create_dir(dir.path().join(".aws")).unwrap();
        std::fs::write(dir.path().join(".aws/config"), "[default]\nregion = home\n").unwrap();
        std::fs::write(dir.path().join("own"), "[default]\nregion = own\n").unwrap();
        let region = |variables: &[(&str, &str)]| {
            let environment: Environment = variables.iter().copied().collect();
            Profiles::load(&environment).unwrap().get("default").map(|section| section["region"].clone())
        };
        assert_eq!(region(&[("HOME", home)]).as_deref(), Some("home"));
        assert_eq!(region(&[("HOME", home), ("AWS_CONFIG_FILE", &format!("{home}/own"))]).as_deref(), Some("own"));
        assert_eq!(region(&[("HOME", home), ("AWS_CONFIG_FILE", &format!("{home}/none"))]), None);
        assert_eq!(region(&[]), None);
        let folder: Environment = [("AWS_CONFIG_FILE", home)].into_iter().collect();
        assert!(Profiles::load(&folder).is_err_and(|error| error.0.contains(home)));
    }
}
