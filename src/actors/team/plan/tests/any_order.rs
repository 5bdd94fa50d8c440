//! Whatever ends in whatever order, and however: a plan comes to its end.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// Teams with all that a plan can do.
const TEAMS: [&str; 5] = [
    "[role.a]\ncount = 4\nstrategy = \"rest_for_one\"\nprompt = \"x\"\nverify = { command = \"c\", attempts = 1 }\n\
     [role.b]\nprompt = \"{{a.output}}\"\noutput_schema = { type = \"object\" }\n",
    "[role.a]\neach = { command = \"c\" }\nstrategy = \"any\"\nprompt = \"{{item}}\"\n[role.b]\nprompt = \"{{a.output}}\"\n",
    "[role.w]\nprompt = \"x\"\n[role.r]\nprompt = \"{{w.output}}\"\n[review.d]\nwriter = \"w\"\nreviewer = \"r\"\n\
     until = { contains = \"{}\" }\nrounds = 3\nrevise = \"{{r.output}}\"\n",
    "[role.w]\ncount = 3\nworktree = true\nprompt = \"x\"\n[role.j]\nprompt = \"{{w.output}}\"\n[best.d]\nof = \"w\"\n\
     judge = \"j\"\nmerge = true\n",
    "[role.p]\nprompt = \"x\"\n[role.q]\nprompt = \"y\"\n[debate.d]\nspeakers = [\"p\", \"q\"]\nrounds = 3\n\
     [role.z]\ncount = 2\nworktree = true\nprompt = \"{{d.output}}\"\n[best.b]\nof = \"z\"\ncommand = \"c\"\n",
];

/// What is under way, by what must follow.
#[derive(Debug)]
enum Open {
    Task(SeatId, u32),
    Command(SeatId, u32),
    Merge(SeatId, u32),
    List(usize),
}

/// One way in which something ends.
fn end_of(open: &Open, how: u8) -> Input {
    let good = !how.is_multiple_of(4);
    match open {
        Open::Task(seat, life) => {
            let outcome = match how % 8 {
                0 => TaskOutcome::Failed { message: "it broke".to_owned(), may_pass: false },
                1 | 2 => TaskOutcome::Failed { message: "it broke".to_owned(), may_pass: true },
                _ => TaskOutcome::Done,
            };
            let text = ["{}", "{\"best\": 1}", "{\"best\": 2}", "words"][usize::from(how / 8 % 4)].to_owned();
            Input::Ended { seat: *seat, life: *life, outcome, text, patch: None }
        }
        Open::Command(seat, life) => Input::Ran { seat: *seat, life: *life, passed: good, output: String::new() },
        Open::Merge(seat, life) => {
            let result = if good { Ok(()) } else { Err("it conflicts".to_owned()) };
            Input::Merged { seat: *seat, life: *life, result }
        }
        Open::List(step) => Input::Listed { step: *step, items: Ok(vec!["a".into(); usize::from(how % 6)]) },
    }
}

proptest! {
    #[test]
    fn a_plan_comes_to_its_end_with_names_used_once_and_places_kept(
        team in 0..TEAMS.len(),
        ends in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 400),
    ) {
        let text = format!("[team]\nname = \"t\"\nmax_parallel = 3\nrestarts = 5\n{}", TEAMS[team]);
        let file = TeamFile::parse(Path::new("t.toml"), text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut plan = Plan::new(Arc::new(file), Given::default());
        let (mut open, mut names, mut finished) = (Vec::<Open>::new(), HashSet::new(), false);
        let mut effects = plan.on(Duration::ZERO, Input::Begin);
        for (which, how) in ends {
            for effect in effects.drain(..) {
                prop_assert!(!finished, "nothing follows the end");
                let life = |seat: SeatId| plan.seats()[seat].life;
                match effect {
                    Effect::Start { seat, life, name, .. } => {
                        prop_assert!(names.insert(name.clone()), "{name} twice");
                        open.push(Open::Task(seat, life));
                    }
                    Effect::Say { seat, .. } => open.push(Open::Task(seat, life(seat))),
                    Effect::Run { seat, .. } => open.push(Open::Command(seat, life(seat))),
                    Effect::Merge { seat } => open.push(Open::Merge(seat, life(seat))),
                    Effect::List { step, .. } => open.push(Open::List(step)),
                    Effect::Stop { .. } => {}
                    Effect::Finish(_) => finished = true,
                }
            }
            if finished {
                break;
            }
            prop_assert!(plan.seats().iter().filter(|seat| seat.is_busy()).count() <= 3);
            prop_assert!(!open.is_empty(), "it waits for something");
            let ended = open.swap_remove(which.index(open.len()));
            effects = plan.on(Duration::ZERO, end_of(&ended, how));
        }
        prop_assert!(finished, "400 ends are enough for any of these");
    }
}
