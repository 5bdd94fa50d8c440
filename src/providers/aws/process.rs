//! Credentials that a command prints (`credential_process`).

use super::{AwsError, Granted, ask::WrittenCredentials};
use crate::providers::{credentials::command, environment::Environment};

/// Runs the command of a profile.
pub(super) async fn run(profile: &str, command: &str, environment: &Environment) -> Result<Granted, AwsError> {
    let from = format!("the credential_process of the AWS profile \"{profile}\"");
    let output = command::run(command, environment).await;
    let output = output.map_err(|error| AwsError::new(format!("{from} {error}: run it by hand to see why")))?;
    WrittenCredentials::read(output.expose().as_bytes(), &from)
}
