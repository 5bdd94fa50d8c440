//! `sandbox`: how far an agent is confined.
//!
//! Read strictly and by file: a typing error must not turn the sandbox off, and what a project says may only tighten
//! what the user says.

use super::{Scope, Settings};
use crate::store::document::{Fault, Field};

const FIELDS: [&str; 6] = ["mode", "network", "unixSockets", "writable", "readable", "denied"];
const MODES: [&str; 3] = ["off", "workspace", "read-only"];

/// `sandbox` as one file has it. Paths are as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// `mode`: off, workspace or read-only.
    pub mode: Option<String>,
    /// `network`: commands may use it.
    pub network: Option<bool>,
    /// `unixSockets`: commands may use sockets of other programs of this machine.
    pub unix_sockets: Option<bool>,
    /// `writable`: further folders that may be written.
    pub writable: Vec<String>,
    /// `readable`: secret places that may be read.
    pub readable: Vec<String>,
    /// `denied`: further places that may not be read.
    pub denied: Vec<String>,
}

impl Settings {
    /// `sandbox` in one file.
    ///
    /// # Errors
    /// The field that does not hold what it should, with the file; or the file is broken and speaks of the sandbox.
    pub fn sandbox(&self, scope: Scope) -> Result<SandboxSettings, String> {
        if let Some(problem) = self.broken_about(scope, "sandbox") {
            return Err(format!(
                "{problem}. It speaks of the sandbox, and nothing is guessed about it: mend the file, or start with \
                 --sandbox off"
            ));
        }
        let Some(value) = self.get_in(scope, &["sandbox"]) else { return Ok(SandboxSettings::default()) };
        let file = self.file(scope).map(|file| format!("{}: ", file.display())).unwrap_or_default();
        parse(&Field::of(value)).map_err(|fault| format!("{file}sandbox: {}", fault.describe()))
    }
}

fn parse(field: &Field<'_>) -> Result<SandboxSettings, Fault> {
    let object = field.object()?;
    object.only(&FIELDS)?;
    let paths = |key: &str| object.read(key, paths).map(Option::unwrap_or_default);
    Ok(SandboxSettings {
        mode: object.read("mode", |field| field.one_of(&MODES).map(str::to_owned))?,
        network: object.read("network", Field::flag)?,
        unix_sockets: object.read("unixSockets", Field::flag)?,
        writable: paths("writable")?,
        readable: paths("readable")?,
        denied: paths("denied")?,
    })
}

fn paths(field: &Field<'_>) -> Result<Vec<String>, Fault> {
    let path = |field: &Field<'_>| match field.text()? {
        "" => Err(field.expected("a path")),
        path => Ok(path.to_owned()),
    };
    field.items()?.iter().map(path).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: serde_json::Value) -> Result<SandboxSettings, String> {
        let serde_json::Value::Object(values) = json!({ "sandbox": value }) else { return Err("no object".into()) };
        Settings::from_value(values).sandbox(Scope::Global)
    }

    #[test]
    fn the_fields_are_read() {
        assert_eq!(read(json!({})), Ok(SandboxSettings::default()));
        let full = json!({
            "mode": "workspace", "network": true, "unixSockets": false,
            "writable": ["~/a", "b"], "readable": ["c"], "denied": ["d"],
        });
        let wanted = SandboxSettings {
            mode: Some("workspace".into()),
            network: Some(true),
            unix_sockets: Some(false),
            writable: vec!["~/a".into(), "b".into()],
            readable: vec!["c".into()],
            denied: vec!["d".into()],
        };
        assert_eq!(read(full), Ok(wanted));
    }

    #[test]
    fn a_file_that_cannot_be_read_and_may_set_a_sandbox_is_an_error_and_not_off() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        let text = r#"{"sandbox": {"mode": "workspace"},}"#;
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (bytes, is_refused) in [(text.as_bytes(), true), (&wide, true), (br#"{"theme": "dark",}"#, false)] {
            std::fs::write(&file, bytes).unwrap();
            let sandbox = Settings::load(&file, None).sandbox(Scope::Global);
            assert_eq!(sandbox.is_err(), is_refused, "{sandbox:?}");
        }
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&file, &file).unwrap();
        let error = Settings::load(&file, None).sandbox(Scope::Global).unwrap_err();
        assert!(error.contains("settings.json"), "{error}");
    }

    #[test]
    fn whatever_is_odd_is_an_error_and_not_off() {
        let table = [
            (json!("workspace"), "sandbox: expected"),
            (json!({"mode": "worksapce"}), "sandbox: mode: expected one of off, workspace, read-only"),
            (json!({"mode": true}), "sandbox: mode: expected"),
            (json!({"network": "no"}), "sandbox: network: expected true or false"),
            (json!({"denied": "x"}), "sandbox: denied: expected"),
            (json!({"denied": [""]}), "sandbox: denied[0]: expected a path"),
            (json!({"deny": []}), "did you mean denied?"),
        ];
        for (value, wanted) in table {
            let error = read(value.clone()).unwrap_err();
            assert!(error.contains(wanted), "{value}: {error}");
        }
    }
}
