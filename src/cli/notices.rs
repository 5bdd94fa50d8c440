//! What there is to tell on the way. The program says it on standard error; one that embeds the library gets it as a
//! list, because standard error is not ours there.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use crate::actors::front::complain;

tokio::task_local! {
    /// Where notices of this task go instead of standard error.
    static COLLECTED: Arc<Mutex<Vec<String>>>;
}

/// Tells something.
pub fn tell(text: &str) {
    let collected =
        COLLECTED.try_with(|list| list.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned()));
    if collected.is_err() {
        complain(text);
    }
}

/// Carries `work` out and collects what it tells.
pub async fn collected<F: Future>(work: F) -> (F::Output, Vec<String>) {
    let list = Arc::default();
    let output = COLLECTED.scope(Arc::clone(&list), work).await;
    let told = std::mem::take(&mut *list.lock().unwrap_or_else(PoisonError::into_inner));
    (output, told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_told_inside_is_collected_in_order() {
        let (output, told) = collected(async {
            tell("one");
            tokio::task::yield_now().await;
            tell("two");
            3
        })
        .await;
        assert_eq!((output, told), (3, vec!["one".to_owned(), "two".to_owned()]));
    }
}
