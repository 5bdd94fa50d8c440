//! The settings of how sessions are saved.

use std::time::Duration;

use super::Settings;

/// When what was written is also brought from the system's memory to the disk: what a power cut may lose. A crash of the
/// program alone loses nothing in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionSync {
    /// With every entry, before it is acknowledged.
    Entry,
    /// At the end of a trace, and before a call that may have effects begins.
    #[default]
    Turn,
    /// When the system likes to.
    Never,
}

/// A full disk is often made room on by the same people who see the run stand still; longer waits only hide a fault.
const SAVE_WAIT_MS: u64 = 30_000;

impl Settings {
    /// `sessionSync`.
    #[must_use]
    pub fn session_sync(&self) -> SessionSync {
        match self.word(&["sessionSync"], &["turn", "entry", "never"]) {
            "entry" => SessionSync::Entry,
            "never" => SessionSync::Never,
            _ => SessionSync::Turn,
        }
    }

    /// `sessionSaveWaitMs`: how long a run that nobody watches waits for a disk that refuses.
    #[must_use]
    pub fn session_save_wait(&self) -> Duration {
        Duration::from_millis(self.whole(&["sessionSaveWaitMs"]).unwrap_or(SAVE_WAIT_MS))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn odd_values_read_as_the_defaults() {
        for (values, sync, wait) in [
            (json!({}), SessionSync::Turn, SAVE_WAIT_MS),
            (json!({"sessionSync": "entry", "sessionSaveWaitMs": 0}), SessionSync::Entry, 0),
            (json!({"sessionSync": "never", "sessionSaveWaitMs": 7}), SessionSync::Never, 7),
            (json!({"sessionSync": "often", "sessionSaveWaitMs": "long"}), SessionSync::Turn, SAVE_WAIT_MS),
        ] {
            let settings = Settings::from_value(values.as_object().cloned().unwrap());
            assert_eq!(settings.session_sync(), sync, "{values}");
            assert_eq!(settings.session_save_wait(), Duration::from_millis(wait), "{values}");
        }
    }
}
