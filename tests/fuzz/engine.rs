//! Trying inputs: choose, change, check, remember what was new, make small what broke.

use std::{
    cell::Cell,
    collections::HashSet,
    env, fmt, panic,
    sync::Once,
    time::{Duration, Instant},
};

use crate::{
    corpus,
    mutate::{Dictionary, mutate},
    random::Random,
    targets::Target,
};

/// Inputs for each target in a short run.
const SHORT: u64 = 100;
/// Inputs that are built upon at most.
const POOL_LIMIT: usize = 4096;
/// The largest input that is built upon, in bytes.
const POOL_INPUT: usize = 16 << 10;
/// Inputs of new shapes that one run stores at most, and the largest, in bytes.
const KEEP_LIMIT: usize = 24;
const KEEP_INPUT: usize = 1 << 10;

/// How long to try.
#[derive(Clone, Copy, Debug)]
pub enum Budget {
    Inputs(u64),
    Time(Duration),
}

/// What a run is asked for.
#[derive(Clone, Debug)]
pub struct Plan {
    pub budget: Budget,
    pub seed: u64,
    pub only: Option<String>,
    pub keep: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self { budget: Budget::Inputs(SHORT), seed: 1, only: None, keep: false }
    }
}

impl Plan {
    pub fn from_environment() -> Self {
        let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect(name));
        let plan = Self::default();
        Self {
            budget: number("TROUPE_FUZZ_SECONDS").map_or(plan.budget, |s| Budget::Time(Duration::from_secs(s))),
            seed: number("TROUPE_FUZZ_SEED").unwrap_or(plan.seed),
            only: env::var("TROUPE_FUZZ_TARGET").ok(),
            keep: env::var_os("TROUPE_FUZZ_KEEP").is_some(),
        }
    }

    pub fn wants(&self, target: &str) -> bool {
        self.only.as_deref().is_none_or(|part| target.contains(part))
    }
}

/// What a run did.
#[derive(Debug)]
pub struct Report {
    target: String,
    pub inputs: u64,
    shapes: usize,
    seconds: f64,
    /// Inputs of shapes that neither the seeds nor the kept inputs have.
    fresh: Vec<Vec<u8>>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, inputs, shapes, seconds, fresh } = self;
        write!(f, "{target}: {inputs} inputs in {seconds:.1} s, {shapes} shapes, {} of them new", fresh.len())
    }
}

/// Tries inputs until the budget is used up.
///
/// # Panics
/// When an input breaks the target; it was stored then.
pub fn run(target: &Target, plan: &Plan) -> Report {
    let mut report = search(target, plan).unwrap_or_else(|(input, fault)| {
        let path = corpus::keep(&target.name, "broke", &input);
        panic!("{} (seed {}): {fault}\nthe input is {}", target.name, plan.seed, path.display());
    });
    if plan.keep {
        report.fresh.retain(|input| input.len() <= KEEP_INPUT);
        // Some of every size: the smallest alone are all alike.
        report.fresh.sort_by_key(Vec::len);
        for input in report.fresh.iter().step_by(report.fresh.len().div_ceil(KEEP_LIMIT).max(1)) {
            corpus::keep(&target.name, "shape", input);
        }
    }
    report
}

/// Tries inputs; the first that breaks the target comes back made small, with what went wrong.
pub fn search(target: &Target, plan: &Plan) -> Result<Report, (Vec<u8>, String)> {
    let begun = Instant::now();
    let mut random = Random::new(plan.seed);
    let mut pool = target.seeds.clone();
    pool.extend(corpus::kept(&target.name).into_iter().map(|(_, input)| input));
    let dictionary = Dictionary::of(&pool);
    let broken = |input: Vec<u8>, fault| Err((minimise(target, input), fault));
    let mut shapes = HashSet::new();
    for input in &pool {
        match target.try_input(input) {
            Ok(shape) => drop(shapes.insert(shape)),
            Err(fault) => return broken(input.clone(), fault),
        }
    }
    let mut report = Report { target: target.name.clone(), inputs: 0, shapes: 0, seconds: 0.0, fresh: Vec::new() };
    while match plan.budget {
        Budget::Inputs(count) => report.inputs < count,
        Budget::Time(time) => begun.elapsed() < time,
    } {
        report.inputs += 1;
        let mut input = random.pick(&pool).clone();
        for _ in 0..=random.below(4) {
            mutate(&mut input, &pool, &dictionary, target.framing, &mut random);
        }
        match target.try_input(&input) {
            Ok(shape) if shapes.insert(shape) => {
                if pool.len() < POOL_LIMIT && input.len() <= POOL_INPUT {
                    pool.push(input.clone());
                }
                report.fresh.push(input);
            }
            Ok(_) => {}
            Err(fault) => return broken(input, fault),
        }
    }
    report.shapes = shapes.len();
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}

/// Cuts pieces out of a breaking input as long as it breaks: halves first, single bytes last.
fn minimise(target: &Target, mut input: Vec<u8>) -> Vec<u8> {
    let begun = Instant::now();
    let mut size = input.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut cut = false;
        while at < input.len() && begun.elapsed() < Duration::from_secs(20) {
            let mut shorter = input.clone();
            shorter.drain(at..input.len().min(at + size));
            if target.try_input(&shorter).is_err() {
                input = shorter;
                cut = true;
            } else {
                at += size;
            }
        }
        if size == 1 && !cut {
            return input;
        }
        size = if cut { size } else { size.div_ceil(2) }.max(1);
        if begun.elapsed() >= Duration::from_secs(20) {
            return input;
        }
    }
}

thread_local! {
    /// Whether panics of this thread are caught and told by the engine.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs a check; a panic becomes its text.
pub fn guard<T>(check: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                usual(info);
            }
        }));
    });
    CAUGHT.set(true);
    let result = panic::catch_unwind(panic::AssertUnwindSafe(check));
    CAUGHT.set(false);
    result.map_err(|cause| match (cause.downcast_ref::<String>(), cause.downcast_ref::<&str>()) {
        (Some(text), _) => text.clone(),
        (None, Some(text)) => (*text).to_owned(),
        (None, None) => "a panic without a text".to_owned(),
    })
}
