//! `troupe sessions search`.

use std::{io, path::PathBuf, time::SystemTime};

use serde_json::json;

use super::{
    Place,
    args::SearchArgs,
    words::{folder, one_line, short_id},
};
use crate::{
    cli::{
        exit::Exit,
        run::{print, warn, write_out},
        start::StartError,
    },
    protocol::{
        hidden,
        time::{age, now_ms},
    },
    store::sessions::{
        Scope,
        index::Index,
        info::read_info,
        query::Query,
        search::{Hit, Search, SearchOptions},
    },
};

/// Characters of a title.
const TITLE: usize = 72;

/// Prints the places, each as soon as it is found.
pub fn run(place: &Place<'_>, args: &SearchArgs) -> Result<Exit, StartError> {
    let query = Query::parse(&args.text).map_err(StartError::of)?;
    let options = SearchOptions { scope: args.scope, per_session: args.limit };
    let mut search = Search::start(&place.dir, query, options).map_err(StartError::of)?;
    let mut printer =
        Printer { place, args, index: Index::load(&place.index, SystemTime::now()), session: PathBuf::new() };
    let mut found = false;
    for hit in search.by_ref() {
        found = true;
        match printer.print(&hit) {
            Ok(()) => {}
            // A reader that went away wants no more.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Done),
            Err(error) => return Err(StartError::Failed(format!("standard output cannot be written: {error}"))),
        }
    }
    search.problems().iter().for_each(|problem| warn(&problem.to_string()));
    if !found && !args.json {
        let here = if args.scope == Scope::Project { " of this folder. --all searches all projects" } else { "" };
        return Ok(print(&format!("\"{}\" is in no session{here}.\n", args.text)));
    }
    Ok(Exit::Done)
}

struct Printer<'p> {
    place: &'p Place<'p>,
    args: &'p SearchArgs,
    index: Index,
    /// The session of the hit before.
    session: PathBuf,
}

impl Printer<'_> {
    /// Prints a hit.
    fn print(&mut self, hit: &Hit) -> io::Result<()> {
        let found = &hit.found;
        let mut text = String::new();
        if self.args.json {
            let value = json!({
                "path": hit.file.path.to_string_lossy(),
                "id": hit.header.id,
                "cwd": hit.header.cwd,
                "entryId": found.entry,
                "role": found.role,
                "snippet": found.snippet.text,
            });
            text.push_str(&hidden::for_terminal_json(&format!("{value}\n")));
        } else {
            if self.session != hit.file.path {
                text = self.headline(hit);
                self.session.clone_from(&hit.file.path);
            }
            let entry = short_id(&found.entry);
            text.push_str(&format!("  {:<13} {entry:<8}  {}\n", found.role, found.snippet.text));
        }
        write_out(&text)
    }

    fn headline(&self, hit: &Hit) -> String {
        let info = self.index.get(&hit.file).or_else(|| read_info(&hit.file));
        let title = info.as_ref().map_or("", |info| info.title());
        let age = info.as_ref().map(|info| age(info.modified, now_ms())).unwrap_or_default();
        let folder = match self.args.scope {
            Scope::All => format!("  [{}]", folder(&hit.header.cwd, self.place.environment.home.as_deref())),
            Scope::Project => String::new(),
        };
        format!("{}  {age:>4}  {}{folder}\n", short_id(&hit.header.id), one_line(title, TITLE))
    }
}
