//! Which questions each server answers.

use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use super::{
    Server,
    listing::{self, Listed},
    probe::{Probe, ProbeError},
};
use crate::providers::environment::Environment;

/// Models of an Ollama that are asked for one by one.
const MAX_SHOWN: usize = 64;

/// The models of a server.
pub(super) async fn models(
    server: Server,
    probe: &Probe<'_>,
    environment: &Environment,
) -> Result<Vec<Listed>, ProbeError> {
    let listed = match server {
        Server::Ollama => ollama(probe, environment).await?,
        Server::LmStudio => match probe.get("/api/v0/models").await {
            Ok(models) => listing::lm_studio(&models),
            // Versions before that path have the common list alone.
            Err(ProbeError::Status(_)) => listing::openai(&probe.get("/v1/models").await?),
            Err(error) => return Err(error),
        },
        Server::LlamaCpp => {
            let (models, props) = join(probe.get("/v1/models"), probe.get("/props")).await;
            listing::llama_cpp(&models?, props.ok().as_ref())
        }
        Server::Vllm => listing::openai(&probe.get("/v1/models").await?),
        Server::Sglang => {
            let (models, info) = join(probe.get("/v1/models"), probe.get("/get_server_info")).await;
            listing::sglang(&models?, info.ok().as_ref())
        }
    };
    listed.ok_or(ProbeError::Stranger)
}

async fn ollama(probe: &Probe<'_>, environment: &Environment) -> Result<Option<Vec<Listed>>, ProbeError> {
    let (tags, running) = join(probe.get("/api/tags"), probe.get("/api/ps")).await;
    let Some(names) = listing::ollama_names(&tags?) else { return Ok(None) };
    let shown =
        names.iter().take(MAX_SHOWN).map(async |name| probe.post("/api/show", &json!({"model": name})).await.ok());
    let shown: Vec<Option<Value>> = join_all(shown).await;
    let general = environment.get("OLLAMA_CONTEXT_LENGTH").and_then(|text| text.trim().parse().ok());
    Ok(Some(listing::ollama(&names, &shown, running.ok().as_ref(), general)))
}
