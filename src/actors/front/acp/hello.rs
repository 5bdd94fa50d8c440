//! What we are, what we can do, and how people log in. Pure.

use agent_client_protocol_schema::{
    ProtocolVersion,
    v1::{
        AgentCapabilities, AuthMethod, AuthMethodAgent, AuthMethodTerminal, ClientCapabilities, Implementation,
        InitializeResponse, PromptCapabilities, SessionCapabilities, SessionCloseCapabilities,
        SessionDeleteCapabilities, SessionListCapabilities, SessionResumeCapabilities,
    },
};

/// How to log in, in words.
pub(super) const HOW_TO_LOG_IN: &str = "Run `troupe auth login` in a terminal, or set a key as docs/acp.md says.";

/// What a client is, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Client {
    /// It shows notices.
    pub notices: bool,
    /// It shows forms.
    pub forms: bool,
}

impl Client {
    pub(super) fn of(capabilities: &ClientCapabilities) -> Self {
        Self {
            notices: capabilities.session.as_ref().is_some_and(|session| session.notices.is_some()),
            forms: capabilities.elicitation.as_ref().is_some_and(|elicitation| elicitation.form.is_some()),
        }
    }
}

/// The answer to the client's first request. Whatever version it asks for, it gets ours: the first.
pub(super) fn hello(client: &ClientCapabilities) -> InitializeResponse {
    let prompt = PromptCapabilities::new().image(true).embedded_context(true);
    let session = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new())
        .delete(SessionDeleteCapabilities::new());
    let capabilities =
        AgentCapabilities::new().load_session(true).prompt_capabilities(prompt).session_capabilities(session);
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("troupe", env!("CARGO_PKG_VERSION")).title("Troupe".to_owned()))
        .auth_methods(vec![log_in(client.auth.terminal)])
}

fn log_in(in_terminal: bool) -> AuthMethod {
    let (id, name, description) = ("login", "Log in", HOW_TO_LOG_IN.to_owned());
    match in_terminal {
        true => {
            let args = vec!["auth".to_owned(), "login".to_owned()];
            AuthMethod::Terminal(AuthMethodTerminal::new(id, name).description(description).args(args))
        }
        false => AuthMethod::Agent(AuthMethodAgent::new(id, name).description(description)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn client(capabilities: Value) -> ClientCapabilities {
        serde_json::from_value(capabilities).unwrap()
    }

    #[test]
    fn a_client_learns_what_it_can_use() {
        let hello = serde_json::to_value(hello(&client(json!({"auth": {"terminal": true}})))).unwrap();
        assert_eq!(hello["protocolVersion"], 1);
        assert_eq!(hello["agentCapabilities"]["loadSession"], true);
        assert_eq!(hello["agentCapabilities"]["promptCapabilities"]["image"], true);
        assert_eq!(hello["agentInfo"]["name"], "troupe");
        assert_eq!(hello["authMethods"][0]["type"], "terminal");
        assert_eq!(hello["authMethods"][0]["args"], json!(["auth", "login"]));
        let plain = serde_json::to_value(super::hello(&ClientCapabilities::new())).unwrap();
        assert_eq!(plain["authMethods"][0].get("type"), None, "a client without a terminal reads the words");
        assert!(plain["authMethods"][0]["description"].as_str().unwrap().contains("troupe auth login"));
    }

    #[test]
    fn notices_and_forms_are_for_clients_that_show_them() {
        let table = [
            (json!({}), false, false),
            (json!({"session": {"notices": {}}}), true, false),
            (json!({"elicitation": {"form": {}}}), false, true),
            (json!({"elicitation": {"url": {}}}), false, false),
        ];
        for (capabilities, notices, forms) in table {
            assert_eq!(Client::of(&client(capabilities)), Client { notices, forms });
        }
    }
}
