//! Accounts: what an agent and all below it have used, and what they may.
//!
//! An account counts in itself and in all accounts above it, so that a limit anywhere holds for the whole family below.
//! A child's own limit is *set aside* in the accounts above when it is spawned: nobody else can spend that meanwhile.
//! All numbers are atomics, since every batch of a streaming answer is counted.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio::time::{Duration, Instant};

use crate::protocol::{
    Usage,
    sibling::{Budget, BudgetKind, SiblingError, Spent},
};

/// What texts of failures by a budget begin with: the class is read off the stored text after a restart.
pub const OUT_OF_BUDGET: &str = crate::protocol::failure::OUT_OF_BUDGET;

/// Money is counted in billionths of a dollar.
const NANO: f64 = 1e9;

/// A limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The quantity.
    pub what: BudgetKind,
    /// Which limit, and whose.
    pub message: String,
}

/// A quantity that is counted.
#[derive(Debug, Default)]
struct Counter {
    used: AtomicU64,
    /// Set aside for accounts below that have a limit of their own, and not used by them yet.
    aside: AtomicU64,
}

/// See the module.
#[derive(Debug)]
pub struct Account {
    owner: String,
    above: Option<Arc<Account>>,
    limits: Mutex<Budget>,
    counters: [Counter; 4],
    begun: Instant,
    /// Seconds that were used before this process.
    before: Mutex<f64>,
    /// What was set aside for it is given back.
    closed: AtomicBool,
}

/// The quantities with a counter, in the order of the counters.
const COUNTED: [BudgetKind; 4] = [BudgetKind::Tokens, BudgetKind::Cost, BudgetKind::Turns, BudgetKind::Spawns];

impl Account {
    /// The account of a root agent, without limits.
    #[must_use]
    pub fn root(owner: impl Into<String>) -> Arc<Self> {
        Arc::new(Self::with(owner.into(), None, Budget::default()))
    }

    fn with(owner: String, above: Option<Arc<Self>>, limits: Budget) -> Self {
        Self {
            owner,
            above,
            limits: Mutex::new(limits),
            counters: Default::default(),
            begun: Instant::now(),
            before: Mutex::new(0.0),
            closed: AtomicBool::new(false),
        }
    }

    /// Limits the account; for a root's, before anything is spawned.
    pub fn limit(&self, budget: Budget) {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner) = budget;
    }

    /// Its own limits.
    #[must_use]
    pub fn budget(&self) -> Budget {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens an account below this one: its limits are set aside here, and the spawn is counted.
    ///
    /// # Errors
    /// Less is left than it wants, here or above.
    pub fn open(self: &Arc<Self>, owner: impl Into<String>, budget: Budget) -> Result<Arc<Self>, SiblingError> {
        let _one = one_at_a_time();
        for kind in COUNTED {
            let counts = u64::from(kind == BudgetKind::Spawns);
            let wanted = limit_of(&budget, kind).unwrap_or(0).saturating_add(counts);
            if let Some((account, left)) = self.least_left(kind).filter(|(_, left)| *left < wanted.max(1)) {
                let (left, wanted) = (amount(kind, left), amount(kind, wanted));
                let left = format!("{left} of {}", account.owner);
                return Err(SiblingError::Budget { what: kind.word(), left, wanted });
            }
        }
        if let Some(exhausted) = self.time_over() {
            let (left, wanted) = (format!("none ({})", exhausted.message), "some".to_owned());
            return Err(SiblingError::Budget { what: BudgetKind::Seconds.word(), left, wanted });
        }
        Ok(self.reopen(owner, budget))
    }

    /// The same without a look at what is left: for an agent that is there already.
    #[must_use]
    pub fn reopen(self: &Arc<Self>, owner: impl Into<String>, budget: Budget) -> Arc<Self> {
        self.add(BudgetKind::Spawns, 1);
        let opened = Arc::new(Self::with(owner.into(), Some(self.clone()), budget));
        for kind in COUNTED {
            if let Some(limit) = limit_of(&budget, kind) {
                opened.set_aside(kind, limit);
            }
        }
        opened
    }

    /// Its agent is gone: what was set aside for it and not used is free again.
    pub fn close(&self) {
        if self.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        for kind in COUNTED {
            if let Some(limit) = self.limit_on(kind) {
                self.give_back(kind, limit.saturating_sub(self.used(kind)));
            }
        }
    }

    /// Counts what was used before this process: a session that is opened again. Not in the accounts above: the session
    /// of an agent counts those below it already.
    pub fn carry(&self, spent: Spent) {
        let amounts = [spent.tokens, nano(spent.cost), spent.turns];
        for (kind, amount) in COUNTED.into_iter().zip(amounts) {
            let before = self.counter(kind).used.fetch_add(amount, Ordering::Relaxed);
            if let Some(limit) = self.limit_on(kind) {
                self.give_back(kind, limit.saturating_sub(before).min(amount));
            }
        }
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) += spent.seconds;
    }

    /// Counts, here and above, what was used before this process and stands in no session above.
    pub fn charge(&self, spent: Spent) {
        let amounts = [spent.tokens, nano(spent.cost), spent.turns];
        COUNTED.into_iter().zip(amounts).for_each(|(kind, amount)| self.add(kind, amount));
    }

    /// What was used so far, with the streaming answers' estimates.
    #[must_use]
    pub fn spent(&self) -> Spent {
        Spent {
            tokens: self.used(BudgetKind::Tokens),
            cost: self.used(BudgetKind::Cost) as f64 / NANO,
            turns: self.used(BudgetKind::Turns),
            seconds: self.seconds(),
            spawns: self.used(BudgetKind::Spawns),
        }
    }

    /// Tokens and money that are neither used nor set aside; none of what is not limited.
    #[must_use]
    pub fn left(&self) -> Budget {
        let left = |kind| self.least_left(kind).map(|(_, left)| left);
        let cost = left(BudgetKind::Cost).map(|nano| nano as f64 / NANO);
        Budget { tokens: left(BudgetKind::Tokens), cost, ..Budget::default() }
    }

    /// Whether another request may be sent: the first limit, from here upwards, that is used up.
    #[must_use]
    pub fn exhausted(&self) -> Option<Exhausted> {
        self.time_over().or_else(|| self.counted_out(|used, limit| used >= limit))
    }

    /// Whether a request that runs must end: the first limit, from here upwards, that is passed.
    #[must_use]
    pub fn overspent(&self) -> Option<Exhausted> {
        self.time_over().or_else(|| {
            // A model call that was allowed may go on, however many there were.
            self.counted_out(|used, limit| used > limit).filter(|exhausted| exhausted.what != BudgetKind::Turns)
        })
    }

    /// How many generations may be below, by the limits from here upwards; none without one.
    #[must_use]
    pub fn generations_left(&self) -> Option<u32> {
        let above = self.above.as_ref().and_then(|above| above.generations_left()).map(|left| left.saturating_sub(1));
        self.budget().depth.into_iter().chain(above).min()
    }

    /// When the first of the time limits from here upwards is over; none without one.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let own = self.budget().seconds.map(|limit| Duration::from_secs_f64((limit - self.seconds()).max(0.0)));
        let above = self.above.as_ref().and_then(|above| above.time_left());
        own.into_iter().chain(above).min()
    }

    /// Counts the next model call, if there may be one more.
    ///
    /// # Errors
    /// The first limit, from here upwards, that is used up.
    pub fn reserve(self: &Arc<Self>) -> Result<Reserved, Exhausted> {
        let _one = one_at_a_time();
        if let Some(exhausted) = self.exhausted() {
            return Err(exhausted);
        }
        self.add(BudgetKind::Turns, 1);
        Ok(Reserved { account: self.clone(), begun: false })
    }

    fn seconds(&self) -> f64 {
        let before = *self.before.lock().unwrap_or_else(PoisonError::into_inner);
        before + self.begun.elapsed().as_secs_f64()
    }

    fn time_over(&self) -> Option<Exhausted> {
        let over = self.budget().seconds.filter(|limit| self.seconds() >= *limit);
        let own = over.map(|limit| Exhausted {
            what: BudgetKind::Seconds,
            message: format!("{} has had its {limit} s", self.owner),
        });
        own.or_else(|| self.above.as_ref().and_then(|above| above.time_over()))
    }

    /// The first account from here upwards whose limit is out, given the use and the limit that count for it here.
    fn counted_out(&self, out: impl Fn(u64, u64) -> bool) -> Option<Exhausted> {
        COUNTED[..3].iter().find_map(|kind| {
            let (mut account, mut covered) = (Some(self), false);
            while let Some(here) = account {
                let limit = here.limit_on(*kind);
                if let Some(limit) = limit {
                    // What an account below has set aside is not for those who have nothing set aside.
                    let aside = if covered { 0 } else { here.counter(*kind).aside.load(Ordering::Relaxed) };
                    let used = here.used(*kind);
                    if out(used.saturating_add(aside), limit) {
                        return Some(here.exhausted_by(*kind, used, aside, limit));
                    }
                    covered = true;
                }
                account = here.above.as_deref();
            }
            None
        })
    }

    fn exhausted_by(&self, what: BudgetKind, used: u64, aside: u64, limit: u64) -> Exhausted {
        let (owner, used, limit) = (&self.owner, amount(what, used), amount(what, limit));
        let aside = if aside > 0 { format!(" ({} more are set aside)", amount(what, aside)) } else { String::new() };
        Exhausted { what, message: format!("{owner} has used {used} of {limit}{aside}") }
    }

    /// The account from here upwards with the least left, and how much that is; none when nothing is limited.
    fn least_left(&self, kind: BudgetKind) -> Option<(&Self, u64)> {
        let own = self.limit_on(kind).map(|limit| {
            let aside = self.counter(kind).aside.load(Ordering::Relaxed);
            (self, limit.saturating_sub(self.used(kind)).saturating_sub(aside))
        });
        // What is left above was set aside for this one, if it is limited.
        own.or_else(|| self.above.as_ref().and_then(|above| above.least_left(kind)))
    }

    fn counter(&self, kind: BudgetKind) -> &Counter {
        let at = COUNTED.iter().position(|counted| *counted == kind).unwrap_or(0);
        &self.counters[at]
    }

    fn used(&self, kind: BudgetKind) -> u64 {
        self.counter(kind).used.load(Ordering::Relaxed)
    }

    fn limit_on(&self, kind: BudgetKind) -> Option<u64> {
        limit_of(&self.budget(), kind)
    }

    /// Counts here and above. What was set aside for whoever uses it is used instead.
    fn add(&self, kind: BudgetKind, amount: u64) {
        let mut account = Some(self);
        while let Some(here) = account {
            let before = here.counter(kind).used.fetch_add(amount, Ordering::Relaxed);
            if let Some(limit) = here.limit_on(kind)
                && !here.closed.load(Ordering::Relaxed)
            {
                here.give_back(kind, limit.saturating_sub(before).min(amount));
            }
            account = here.above.as_deref();
        }
    }

    /// Takes back what was counted too much.
    fn take_back(&self, kind: BudgetKind, amount: u64) {
        let mut account = Some(self);
        while let Some(here) = account {
            let after = here.counter(kind).used.fetch_sub(amount, Ordering::Relaxed).saturating_sub(amount);
            if let Some(limit) = here.limit_on(kind)
                && !here.closed.load(Ordering::Relaxed)
            {
                here.set_aside(kind, limit.saturating_sub(after).min(amount));
            }
            account = here.above.as_deref();
        }
    }

    /// Sets aside for this account, in those above up to the first that is limited: all of that one's limit is set
    /// aside above it already.
    fn set_aside(&self, kind: BudgetKind, amount: u64) {
        self.above_until_limited(kind, |counter| counter.aside.fetch_add(amount, Ordering::Relaxed));
    }

    fn give_back(&self, kind: BudgetKind, amount: u64) {
        self.above_until_limited(kind, |counter| counter.aside.fetch_sub(amount, Ordering::Relaxed));
    }

    fn above_until_limited(&self, kind: BudgetKind, change: impl Fn(&Counter) -> u64) {
        let mut account = self.above.as_deref();
        while let Some(here) = account {
            change(here.counter(kind));
            account = if here.limit_on(kind).is_some() { None } else { here.above.as_deref() };
        }
    }
}

/// Two agents of a family that look at what is left at once would both get it.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static DECIDING: Mutex<()> = Mutex::new(());
    DECIDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to one model call, which is counted. Dropped before the call begins, it is given back.
#[derive(Debug)]
pub struct Reserved {
    account: Arc<Account>,
    begun: bool,
}

impl Reserved {
    /// The call begins.
    #[must_use]
    pub fn begin(mut self) -> Meter {
        self.begun = true;
        Meter { account: self.account.clone(), tokens: 0, nano: 0 }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.begun {
            self.account.take_back(BudgetKind::Turns, 1);
        }
    }
}

/// Counts one model call: an estimate while it streams, what the provider reports at its end. Dropped without an end,
/// the estimate stands: it was spent.
#[derive(Debug)]
pub struct Meter {
    account: Arc<Account>,
    tokens: u64,
    nano: u64,
}

impl Meter {
    /// Raises the estimate to so many tokens and dollars; it never falls.
    pub fn estimate(&mut self, tokens: u64, cost: f64) {
        self.raise(BudgetKind::Tokens, tokens);
        self.raise(BudgetKind::Cost, nano(cost));
    }

    /// The limit that is passed with what was counted so far.
    #[must_use]
    pub fn overspent(&self) -> Option<Exhausted> {
        self.account.overspent()
    }

    /// The call is over, and this is what it used. A provider that reports nothing leaves the estimate.
    pub fn settle(mut self, usage: &Usage) {
        let tokens = usage.context_tokens();
        if tokens == 0 {
            return;
        }
        self.raise(BudgetKind::Tokens, tokens);
        self.raise(BudgetKind::Cost, nano(usage.cost.total));
        self.account.take_back(BudgetKind::Tokens, self.tokens - tokens);
        self.account.take_back(BudgetKind::Cost, self.nano - nano(usage.cost.total));
    }

    fn raise(&mut self, kind: BudgetKind, to: u64) {
        let counted = if kind == BudgetKind::Tokens { &mut self.tokens } else { &mut self.nano };
        let more = to.saturating_sub(*counted);
        *counted += more;
        if more > 0 {
            self.account.add(kind, more);
        }
    }
}

fn limit_of(budget: &Budget, kind: BudgetKind) -> Option<u64> {
    match kind {
        BudgetKind::Tokens => budget.tokens,
        BudgetKind::Cost => budget.cost.map(nano),
        BudgetKind::Turns => budget.turns,
        BudgetKind::Spawns => budget.spawns,
        BudgetKind::Seconds | BudgetKind::Depth => None,
    }
}

fn nano(dollars: f64) -> u64 {
    // Saturates; what is no number, or less than nothing, counts as nothing.
    (dollars * NANO).round() as u64
}

/// An amount as texts give it.
fn amount(kind: BudgetKind, amount: u64) -> String {
    match kind {
        BudgetKind::Cost => format!("${:.4}", amount as f64 / NANO),
        BudgetKind::Tokens => format!("{amount} tokens"),
        BudgetKind::Turns => format!("{amount} turns"),
        kind => format!("{amount} {}", kind.word()),
    }
}

impl Exhausted {
    /// The text of the failure.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{OUT_OF_BUDGET} ({}): {}", self.what.word(), self.message)
    }

    /// The limit that a failure's text tells of; none when it tells of something else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(OUT_OF_BUDGET)?.strip_prefix(" (")?;
        let (word, message) = rest.split_once("): ")?;
        let kinds = COUNTED.into_iter().chain([BudgetKind::Seconds, BudgetKind::Depth]);
        let what = kinds.into_iter().find(|kind| kind.word() == word)?;
        Some(Self { what, message: message.to_owned() })
    }
}

#[cfg(test)]
mod tests;
