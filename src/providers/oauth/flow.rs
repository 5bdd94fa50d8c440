//! A provider's way to log in, as data.

use reqwest::Url;
use serde_json::{Map, Value};

use crate::{
    providers::{Secret, http},
    store::document::{Fault, Field, Object},
};

/// The fields that describe a flow.
pub const FIELDS: [&str; 20] = [
    "authorizeUrl",
    "deviceUrl",
    "tokenUrl",
    "clientId",
    "clientSecret",
    "scopes",
    "authorizeParams",
    "tokenParams",
    "redirectHost",
    "redirectPort",
    "redirectPath",
    "anyPort",
    "copyCodeUrl",
    "encoding",
    "sendState",
    "exchange",
    "sendAs",
    "dialect",
    "anonymous",
    "hostInToken",
];

/// The fields of an exchange.
pub const EXCHANGE_FIELDS: [&str; 5] = ["url", "post", "tokenField", "expiresField", "lifetime"];

/// How a login at a provider goes, and what is done with its tokens.
#[derive(Clone, Debug)]
pub struct Flow {
    /// How the user says yes.
    pub start: Start,
    /// Where codes and refresh tokens are traded for tokens.
    pub token_url: Url,
    /// Fields of every request there, beside those of the standard.
    pub token_params: Vec<(String, String)>,
    /// How these requests are written.
    pub encoding: Encoding,
    /// The state goes along when the code is traded.
    pub sends_state: bool,
    /// Who asks; some flows need no id.
    pub client: Option<Client>,
    /// The flow works without an id.
    pub anonymous: bool,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// The login's token is good for nothing but getting short-lived ones here.
    pub exchange: Option<Exchange>,
    /// The token goes out as `Authorization: Bearer`, else like an API key.
    pub bearer: bool,
    /// The token's text names the host that it is for.
    pub host_in_token: bool,
}

/// How the user says yes.
#[derive(Clone, Debug)]
pub enum Start {
    /// In a browser that comes back to this machine with a code.
    Browser(Browser),
    /// In any browser, with a code that is typed there.
    Device {
        /// Where the code is asked for.
        url: Url,
    },
}

/// The addresses of a login in a browser.
#[derive(Clone, Debug)]
pub struct Browser {
    /// The page that the browser opens.
    pub authorize_url: Url,
    /// More parameters of that page.
    pub params: Vec<(String, String)>,
    /// The words that the page and the token endpoint understand.
    pub dialect: Dialect,
    /// The host that the browser is sent back to; this machine's name as the provider wants it.
    pub redirect_host: String,
    /// The port there; none for any free one.
    pub redirect_port: Option<u16>,
    /// Another port does as well when that one is taken.
    pub any_port: bool,
    /// The path there.
    pub redirect_path: String,
    /// A page of the provider that shows the code, for browsers on other machines.
    pub copy_code_url: Option<Url>,
}

/// What a login in a browser speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The standard.
    OAuth,
    /// OpenRouter's: a callback address in place of client and state, an API key in place of tokens.
    OpenRouterKey,
}

/// How requests to the token endpoint are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As a form: the standard.
    Form,
    /// As JSON.
    Json,
}

/// Under which name Troupe is registered at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The public id.
    pub id: String,
    /// The secret of confidential clients.
    pub secret: Option<Secret>,
}

/// Trading the login's token for short-lived ones.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Where.
    pub url: Url,
    /// By POST with an empty object, else by GET.
    pub post: bool,
    /// The answer's field with the token.
    pub token_field: String,
    /// The answer's field with its end, in seconds since 1970.
    pub expires_field: Option<String>,
    /// How long it lasts when the answer does not say, in seconds.
    pub lifetime: u64,
}

impl Flow {
    /// Reads a flow.
    ///
    /// # Errors
    /// A field is missing or of the wrong type; an address would send secrets in the clear.
    pub fn read(object: &Object<'_>) -> Result<Self, Fault> {
        let start = match object.get("deviceUrl") {
            Some(field) => Start::Device { url: url(&field)? },
            None => Start::Browser(browser(object)?),
        };
        let text = |key: &str| object.read(key, Field::text);
        let client = text("clientId")?.map(str::to_owned);
        // The fault does not show the field: it is the secret.
        let secret = object.read("clientSecret", |field| {
            field.value().as_str().map(Secret::new).ok_or_else(|| field.fault("expected a text"))
        })?;
        let encoding = object.read("encoding", |field| field.one_of(&["form", "json"]))?;
        let send_as = object.read("sendAs", |field| field.one_of(&["bearer", "key"]))?;
        let flag = |key: &str| object.read(key, Field::flag).map(Option::unwrap_or_default);
        Ok(Self {
            start,
            token_url: url(&object.require("tokenUrl", "the token endpoint's address")?)?,
            token_params: object.read("tokenParams", params)?.unwrap_or_default(),
            encoding: if encoding == Some("json") { Encoding::Json } else { Encoding::Form },
            sends_state: flag("sendState")?,
            client: client.map(|id| Client { id, secret }),
            anonymous: flag("anonymous")?,
            scopes: object.read("scopes", scopes)?.unwrap_or_default(),
            exchange: object.read("exchange", |field| exchange(&field.object()?))?,
            bearer: send_as != Some("key"),
            host_in_token: flag("hostInToken")?,
        })
    }

    /// The flow of these layers of fields; later ones win.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn of_layers<'a>(layers: impl IntoIterator<Item = &'a Map<String, Value>>) -> Result<Self, Fault> {
        let mut all = Map::new();
        for layer in layers {
            all.extend(layer.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        Self::read(&Field::of(&Value::Object(all)).object()?)
    }

    /// Who asks, when the flow lacks nothing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.anonymous || self.client.is_some()
    }

    /// What every request to the provider says: who asks, and the flow's own fields.
    pub fn own_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let id = self.client.iter().map(|client| ("client_id", client.id.as_str()));
        let secrets = self.client.iter().filter_map(|client| client.secret.as_ref());
        let params = self.token_params.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        id.chain(secrets.map(|secret| ("client_secret", secret.expose()))).chain(params)
    }

    /// The scopes as requests write them.
    #[must_use]
    pub fn scope(&self) -> String {
        self.scopes.join(" ")
    }
}

fn browser(object: &Object<'_>) -> Result<Browser, Fault> {
    let text = |key: &str| object.read(key, Field::text);
    let port = object.read("redirectPort", |field| {
        u16::try_from(field.whole()?).map_err(|_| field.expected("a port up to 65535, or 0 for any"))
    })?;
    let dialect = object.read("dialect", |field| field.one_of(&["oauth", "openrouter-key"]))?;
    let path = object.read("redirectPath", |field| {
        let path = field.text()?;
        if path.starts_with('/') { Ok(path) } else { Err(field.expected("a path that begins with /")) }
    })?;
    Ok(Browser {
        authorize_url: url(&object.require("authorizeUrl", "the login page's address (or deviceUrl)")?)?,
        params: object.read("authorizeParams", params)?.unwrap_or_default(),
        dialect: if dialect == Some("openrouter-key") { Dialect::OpenRouterKey } else { Dialect::OAuth },
        redirect_host: text("redirectHost")?.unwrap_or("127.0.0.1").to_owned(),
        redirect_port: port.filter(|port| *port != 0),
        any_port: object.read("anyPort", Field::flag)?.unwrap_or(true),
        redirect_path: path.unwrap_or("/callback").to_owned(),
        copy_code_url: object.read("copyCodeUrl", url)?,
    })
}

fn exchange(object: &Object<'_>) -> Result<Exchange, Fault> {
    Ok(Exchange {
        url: url(&object.require("url", "the address of the exchange")?)?,
        post: object.read("post", Field::flag)?.unwrap_or_default(),
        token_field: object.require("tokenField", "the name of the answer's field")?.text()?.to_owned(),
        expires_field: object.read("expiresField", Field::text)?.map(str::to_owned),
        lifetime: object.read("lifetime", Field::whole)?.unwrap_or(3600),
    })
}

/// An address that secrets may be sent to.
fn url(field: &Field<'_>) -> Result<Url, Fault> {
    let url = Url::parse(field.text()?).map_err(|_| field.expected("a URL"))?;
    if is_safe(&url) { Ok(url) } else { Err(field.expected("an https:// URL (http:// only on this machine)")) }
}

/// Whether what goes there is encrypted or stays on this machine.
#[must_use]
pub fn is_safe(url: &Url) -> bool {
    let host = http::host(url);
    url.scheme() == "https" && !host.is_empty() || url.scheme() == "http" && http::is_loopback(host)
}

fn params(field: &Field<'_>) -> Result<Vec<(String, String)>, Fault> {
    field.object()?.entries().map(|(key, value)| Ok((key.to_owned(), value.text()?.to_owned()))).collect()
}

/// Scopes as a list, or as one text with blanks between them.
fn scopes(field: &Field<'_>) -> Result<Vec<String>, Fault> {
    match field.value().as_str() {
        Some(text) => Ok(text.split_whitespace().map(str::to_owned).collect()),
        None => field.items()?.iter().map(|item| Ok(item.text()?.to_owned())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<Flow, String> {
        Flow::read(&Field::of(value).object().unwrap()).map_err(|fault| fault.describe())
    }

    #[test]
    fn a_flow_of_a_company_needs_three_lines() {
        let flow = read(&json!({"authorizeUrl": "https://sso.example/auth", "tokenUrl": "https://sso.example/token",
            "clientId": "troupe", "scopes": "models offline_access"}))
        .unwrap();
        assert_eq!((flow.scope().as_str(), flow.bearer, flow.is_complete()), ("models offline_access", true, true));
        let Start::Browser(browser) = flow.start else { panic!("no browser") };
        assert_eq!((browser.redirect_host.as_str(), browser.redirect_port), ("127.0.0.1", None));
    }

    #[test]
    fn what_is_wrong_with_a_flow_is_said_and_no_secret_goes_out_in_the_clear() {
        let table = [
            (json!({"tokenUrl": "https://t"}), "authorizeUrl: expected the login page's address"),
            (json!({"deviceUrl": "https://d"}), "tokenUrl: expected the token endpoint's address, found nothing"),
            (json!({"deviceUrl": "https://d", "tokenUrl": "http://far.example/t"}), "tokenUrl: expected an https://"),
            (json!({"deviceUrl": "ftp://localhost/d", "tokenUrl": "https://t"}), "deviceUrl: expected an https://"),
            (json!({"deviceUrl": "https://d", "tokenUrl": "https://t", "clientSecret": 5}), "clientSecret: expected"),
            (json!({"authorizeUrl": "https://a", "tokenUrl": "https://t", "redirectPort": 70000}), "redirectPort:"),
        ];
        for (value, expected) in table {
            let text = read(&value).unwrap_err();
            assert!(text.starts_with(expected), "{text}");
        }
        for local in ["http://127.0.0.1:9/t", "http://localhost/t", "http://[::1]:9/t"] {
            assert!(read(&json!({"deviceUrl": "https://d", "tokenUrl": local})).is_ok(), "{local}");
        }
    }

    #[test]
    fn later_layers_win_and_secrets_do_not_show() {
        let layers = [
            json!({"deviceUrl": "https://d", "tokenUrl": "https://t", "scopes": ["a"]}),
            json!({"clientId": "mine", "clientSecret": "hush-hush", "scopes": ["b", "c"]}),
        ];
        let flow = Flow::of_layers(layers.iter().filter_map(Value::as_object)).unwrap();
        assert_eq!(flow.scope(), "b c");
        assert!(!format!("{flow:?}").contains("hush"));
    }
}
