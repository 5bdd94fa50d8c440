//! From a text to a model: exact names first, then parts of names.

use std::sync::Arc;

use super::SelectionError;
use crate::{protocol::Model, providers::catalogue::Catalogue};

/// The models to choose from.
pub(super) struct Pool<'a> {
    catalogue: &'a Catalogue,
    models: Vec<Arc<Model>>,
    keys_break_ties: bool,
}

impl<'a> Pool<'a> {
    /// All models. Where several fit, those that have a key win when `keys_break_ties`.
    pub fn new(catalogue: &'a Catalogue, keys_break_ties: bool) -> Self {
        Self { catalogue, models: catalogue.models().to_vec(), keys_break_ties }
    }

    /// The model that `text` names; with a provider, among its models alone.
    pub fn find(&self, text: &str, provider: Option<&str>) -> Result<Option<Arc<Model>>, SelectionError> {
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(provider) = provider {
            let within = strip_provider(text, provider).unwrap_or(text);
            let found = self.exact_at(provider, text).or_else(|| self.exact_at(provider, within));
            return Ok(found.or_else(|| best(&self.parts(within, Some(provider)))));
        }
        if let Some(model) = self.exact(text)? {
            return Ok(Some(model));
        }
        if let Some((provider, id)) = provider_prefix(self.catalogue, text)
            && let Some(model) = best(&self.parts(id, Some(provider)))
        {
            return Ok(Some(model));
        }
        self.by_part(text)
    }

    /// An exact id or `provider/id`, without regard to case.
    fn exact(&self, text: &str) -> Result<Option<Arc<Model>>, SelectionError> {
        let prefix = provider_prefix(self.catalogue, text);
        let named =
            prefix.and_then(|(provider, id)| self.exact_at(provider, id).or_else(|| self.exact_at(provider, text)));
        if let Some(named) = &named
            && self.has_key(named)
        {
            return Ok(Some(Arc::clone(named)));
        }
        let raw = self.with_id(text);
        let with_key: Vec<_> = raw.iter().filter(|model| self.has_key(model)).collect();
        match (with_key.as_slice(), named, raw.as_slice()) {
            ([one], _, _) => Ok(Some(Arc::clone(one))),
            (_, Some(named), _) => Ok(Some(named)),
            (_, None, []) => Ok(None),
            (_, None, [one]) => Ok(Some(Arc::clone(one))),
            ([], None, several) => Err(ambiguous(text, several)),
            (several, None, _) => Err(ambiguous(text, several.iter().copied())),
        }
    }

    fn by_part(&self, text: &str) -> Result<Option<Arc<Model>>, SelectionError> {
        let all = self.parts(text, None);
        let with_key: Vec<_> = all.iter().filter(|model| self.has_key(model)).cloned().collect();
        let candidates = if with_key.is_empty() { all } else { with_key };
        let Some(best) = best(&candidates) else { return Ok(None) };
        let same: Vec<_> = candidates.into_iter().filter(|model| model.id.eq_ignore_ascii_case(&best.id)).collect();
        if same.len() > 1 { Err(ambiguous(text, &same)) } else { Ok(Some(best)) }
    }

    /// All models with that id, at any provider.
    pub fn with_id(&self, id: &str) -> Vec<Arc<Model>> {
        self.models.iter().filter(|model| model.id.eq_ignore_ascii_case(id)).cloned().collect()
    }

    fn exact_at(&self, provider: &str, id: &str) -> Option<Arc<Model>> {
        let of_provider = || self.models.iter().filter(|model| model.provider == provider);
        let exact = of_provider().find(|model| model.id == id);
        exact.or_else(|| of_provider().find(|model| model.id.eq_ignore_ascii_case(id))).cloned()
    }

    fn parts(&self, text: &str, provider: Option<&str>) -> Vec<Arc<Model>> {
        if text.is_empty() {
            return Vec::new();
        }
        let text = text.to_lowercase();
        let fits = |model: &&Arc<Model>| {
            provider.is_none_or(|provider| model.provider == provider)
                && (model.id.to_lowercase().contains(&text) || model.name.to_lowercase().contains(&text))
        };
        self.models.iter().filter(fits).cloned().collect()
    }

    fn has_key(&self, model: &Model) -> bool {
        self.keys_break_ties && self.catalogue.is_available(model)
    }
}

/// The provider that `text` begins with and what follows it. Provider ids may hold slashes: the longest one wins.
pub(super) fn provider_prefix<'a>(catalogue: &'a Catalogue, text: &'a str) -> Option<(&'a str, &'a str)> {
    let ids = catalogue.providers().iter().map(|provider| provider.id.as_str());
    let longest = ids.filter_map(|id| Some((id, strip_provider(text, id)?))).max_by_key(|(id, _)| id.len());
    longest.or_else(|| {
        let (older, rest) = text.split_once('/')?;
        Some((catalogue.provider(older)?.id.as_str(), rest))
    })
}

fn strip_provider<'a>(text: &'a str, provider: &str) -> Option<&'a str> {
    let head = text.get(..provider.len()).filter(|head| head.eq_ignore_ascii_case(provider))?;
    text[head.len()..].strip_prefix('/')
}

/// The best of models whose names contain a text: an alias before a dated version, then the greatest id.
pub(super) fn best(models: &[Arc<Model>]) -> Option<Arc<Model>> {
    let rank = |model: &&Arc<Model>| (is_alias(&model.id), model.id.to_lowercase());
    models.iter().rev().max_by_key(rank).cloned()
}

/// An id that stands for the newest version: it ends in `-latest`, or in no date (`-20260131`).
fn is_alias(id: &str) -> bool {
    let dated =
        id.rsplit_once('-').is_some_and(|(_, end)| end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_digit()));
    id.ends_with("-latest") || !dated
}

fn ambiguous<'a>(text: &str, models: impl IntoIterator<Item = &'a Arc<Model>>) -> SelectionError {
    let mut candidates: Vec<_> = models.into_iter().map(|model| model.reference().to_string()).collect();
    candidates.sort();
    SelectionError::Ambiguous { text: text.to_owned(), candidates }
}
