//! The catalogue of a running process: a snapshot that can be exchanged.
//!
//! Whoever needs models takes the snapshot of the moment and keeps it for one decision. What extensions register, and
//! files that are read again, make a new snapshot; nobody who looks is ever in the way of that, or sees half of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::{
    Catalogue,
    registered::{ProviderRegistration, Registered, RegistrationError},
};
use crate::{
    protocol::{ModelRef, route::VirtualDescription},
    providers::{models_json::ProviderEntry, routing::CoolDowns},
};

/// The catalogue of a process. Clones are the same one.
#[derive(Clone)]
pub struct LiveCatalogue(Arc<Inner>);

struct Inner {
    current: RwLock<Arc<Catalogue>>,
    /// Held while a new snapshot is made, so that none is lost.
    changing: Mutex<()>,
    cool_downs: Mutex<CoolDowns>,
}

impl LiveCatalogue {
    /// Begins with this snapshot.
    #[must_use]
    pub fn new(catalogue: Catalogue) -> Self {
        Self(Arc::new(Inner {
            current: RwLock::new(Arc::new(catalogue)),
            changing: Mutex::default(),
            cool_downs: Mutex::default(),
        }))
    }

    /// The snapshot of this moment.
    #[must_use]
    pub fn now(&self) -> Arc<Catalogue> {
        self.0.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files again.
    pub fn reload(&self) {
        let _changing = self.changing();
        self.exchange(self.now().reload());
    }

    /// Adds providers that were found, such as servers on this machine, to those that were found before. One that has the
    /// id of a configured provider is left out.
    pub fn add_found(&self, found: Vec<ProviderEntry>) {
        let _changing = self.changing();
        let now = self.now();
        let known = now.found().iter().filter(|known| !found.iter().any(|new| new.id == known.id));
        self.exchange(now.with_found(known.cloned().chain(found.iter().cloned()).collect()));
    }

    /// Registers a provider, or changes one that is registered.
    ///
    /// # Errors
    /// Its id or its configuration cannot be used.
    pub fn register_provider(&self, registration: ProviderRegistration) -> Result<(), RegistrationError> {
        let _changing = self.changing();
        let now = self.now();
        self.exchange(now.with_registered(now.registered().with_provider(registration)?));
        Ok(())
    }

    /// Takes a registered provider away; what was built in under its id comes back.
    pub fn unregister_provider(&self, id: &str) {
        let _changing = self.changing();
        let now = self.now();
        self.exchange(now.with_registered(now.registered().without_provider(id)));
    }

    /// Registers a virtual model for which the extension `owner` chooses, or changes one that is registered.
    ///
    /// # Errors
    /// A physical model has its name. One that comes later is hidden.
    pub fn register_virtual_model(&self, owner: &str, model: VirtualDescription) -> Result<(), RegistrationError> {
        let _changing = self.changing();
        let now = self.now();
        let name = model.reference();
        if now.find(&name).is_some() && now.virtual_model(&name).is_none() {
            return Err(RegistrationError::Taken(name));
        }
        self.exchange(now.with_registered(now.registered().with_virtual(owner, model)));
        Ok(())
    }

    /// Takes a registered virtual model away.
    pub fn unregister_virtual_model(&self, name: &ModelRef) {
        let _changing = self.changing();
        let now = self.now();
        let registered: Registered = now.registered().without_virtual(name);
        self.exchange(now.with_registered(registered));
    }

    /// The models that rest. Held only for a moment: never across an await.
    pub fn cool_downs(&self) -> MutexGuard<'_, CoolDowns> {
        self.0.cool_downs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.0.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exchange(&self, catalogue: Catalogue) {
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue);
    }
}

#[cfg(test)]
mod tests;
