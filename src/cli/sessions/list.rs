//! `troupe sessions list`.

use super::{
    Place,
    args::{ListArgs, VERBS},
    words::{count, folder, for_programs, one_line, short_id},
};
use crate::{
    actors::front::complain,
    cli::{
        exit::Exit,
        run::{print, warn},
        start::StartError,
    },
    protocol::{
        hidden,
        time::{Millis, age, now_ms},
    },
    store::sessions::{
        Listing, Scope, SessionInfo,
        order::{self, Fit, SortBy},
        query::Query,
    },
};

/// Characters of a title.
const TITLE: usize = 72;

/// Prints the sessions.
pub fn run(place: &Place<'_>, args: &ListArgs) -> Result<Exit, StartError> {
    let mut listing = Listing::open(&place.dir, args.scope, Some(&place.index));
    let (sessions, has_more) = chosen(&mut listing, args)?;
    let text = if args.json {
        let all: Vec<_> = sessions.iter().map(for_programs).collect();
        let text = serde_json::to_string_pretty(&all).unwrap_or_default() + "\n";
        hidden::for_terminal_json(&text).into_owned()
    } else if sessions.is_empty() {
        nothing(args)
    } else {
        table(&sessions, args.scope, now_ms(), place)
    };
    let printed = print(&text);
    if has_more && !args.json {
        complain(&format!("There are more than {}: --limit 0 lists all.", sessions.len()));
    }
    listing.problems().iter().for_each(|problem| warn(&problem.to_string()));
    if let Err(error) = listing.save_index() {
        tracing::debug!(%error, "the index of sessions was not saved");
    }
    Ok(printed)
}

/// The sessions to show, and whether there are more.
fn chosen(listing: &mut Listing, args: &ListArgs) -> Result<(Vec<SessionInfo>, bool), StartError> {
    let limit = args.limit.unwrap_or(usize::MAX);
    let mut sessions = if args.query.is_empty() && !args.named && args.sort == SortBy::Recent {
        listing.page(limit.saturating_add(1))
    } else {
        let mut all = listing.rest();
        all.retain(|session| session.name.is_some() || !args.named);
        order::sort(&mut all, args.sort);
        match args.query.is_empty() {
            true => all,
            // Scattered letters are for those who see the list while they type.
            false => order::matching(all, &Query::parse(&args.query).map_err(StartError::of)?, Fit::Literal),
        }
    };
    let has_more = sessions.len() > limit;
    sessions.truncate(limit);
    Ok((sessions, has_more))
}

fn nothing(args: &ListArgs) -> String {
    let first = args.query.split_whitespace().next().unwrap_or_default();
    let close = VERBS.iter().find(|verb| strsim::damerau_levenshtein(first, verb) == 1);
    let named = if args.named { " named" } else { "" };
    let fitting = if args.query.is_empty() { String::new() } else { format!(" that fits \"{}\"", args.query) };
    let here = if args.scope == Scope::Project { " of this folder" } else { "" };
    let mut text = format!("There is no{named} session{here}{fitting}.");
    if let Some(verb) = close {
        text.push_str(&format!(" Did you mean `troupe sessions {verb}`?"));
    } else if args.scope == Scope::Project {
        text.push_str(" --all looks in all projects.");
    }
    if !args.query.is_empty() && close.is_none() {
        text.push_str(" `troupe sessions search` looks at all that was said.");
    }
    text + "\n"
}

fn table(sessions: &[SessionInfo], scope: Scope, now: Millis, place: &Place<'_>) -> String {
    let home = place.environment.home.as_deref();
    let ids = sessions.iter().map(|session| short_id(&session.id).chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for session in sessions {
        let title = match &session.name {
            Some(name) => format!("{} — {}", one_line(name, TITLE), session.first_message),
            None => session.first_message.clone(),
        };
        let messages = count(session.message_count, "message") + if session.partial { " or more" } else { "" };
        let folder = match scope {
            Scope::All => format!("  [{}]", one_line(&folder(&session.cwd, home), TITLE)),
            Scope::Project => String::new(),
        };
        text.push_str(&format!(
            "{:ids$}  {:>4}  {messages:>12}  {}{folder}\n",
            short_id(&session.id),
            age(session.modified, now),
            one_line(&title, TITLE),
        ));
    }
    text
}
