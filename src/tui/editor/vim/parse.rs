//! From keys to commands of the normal and visual modes.

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// The caret goes.
    Move(Motion),
    /// An operator on what a motion passes, or on lines.
    Operate(Operator, Target),
    /// Writing begins.
    Insert(Place),
    /// The register is put in, behind the caret or before it, so many times.
    Put {
        /// Behind the caret, or below its line.
        behind: bool,
        /// How often.
        count: usize,
    },
    /// Characters become this one.
    Replace {
        /// It.
        with: char,
        /// How many.
        count: usize,
    },
    /// The last change is taken back, so many times.
    Undo(usize),
    /// The last undo is taken back, so many times.
    Redo(usize),
    /// The visual mode begins or ends.
    Visual,
    /// In the visual mode: the caret goes to the other end.
    OtherEnd,
}

/// What is done to a part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It goes into the register.
    Delete,
    /// It goes into the register, and writing begins in its place.
    Change,
    /// A copy goes into the register.
    Yank,
}

/// What an operator works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// What a motion passes.
    Passed(Motion),
    /// So many whole lines.
    Lines(usize),
    /// What is selected.
    Selection,
}

/// Where the caret goes, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Motion {
    /// The way.
    pub way: Way,
    /// How often it is gone; for [`Way::Line`], the line, from 1.
    pub count: usize,
}

/// A way of the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A character to the left, in the line.
    Left,
    /// A character to the right, in the line.
    Right,
    /// A row up.
    Up,
    /// A row down.
    Down,
    /// To the start of the next word.
    WordForward,
    /// To the start of the word.
    WordBackward,
    /// To the last character of the word.
    WordEnd,
    /// To the start of the line.
    LineStart,
    /// To the first character of the line that is no blank.
    FirstNonBlank,
    /// To the end of the line.
    LineEnd,
    /// To a line by its number.
    Line,
    /// To the last line.
    LastLine,
    /// To a character of the line.
    Find(Find),
}

/// A search for a character in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Find {
    /// The character.
    pub character: char,
    /// Towards the start.
    pub backward: bool,
    /// It stops one character before.
    pub till: bool,
}

/// Where writing begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the caret.
    Here,
    /// Behind the caret.
    Behind,
    /// At the first character of the line that is no blank.
    LineStart,
    /// At the end of the line.
    LineEnd,
    /// In a new line above.
    Above,
    /// In a new line below.
    Below,
}

/// What was typed of a command that is not whole yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parser {
    count: Option<usize>,
    operator: Option<(Operator, char, Option<usize>)>,
    awaits: Option<Awaits>,
    last_find: Option<Find>,
}

/// The next character belongs to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// `g`.
    Line,
    /// `r`.
    Replacement,
    /// `f`, `t`, `F`, `T`.
    Found { backward: bool, till: bool },
}

/// Counts stop growing here: more is the same as all.
const MAX_COUNT: usize = 100_000;

impl Parser {
    /// Whether a command was begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.count.is_some() || self.operator.is_some() || self.awaits.is_some()
    }

    /// Forgets what was begun.
    pub fn cancel(&mut self) {
        *self = Self { last_find: self.last_find, ..Self::default() };
    }

    /// Takes a character; gives the command that it completes. What is no command is forgotten.
    pub fn push(&mut self, character: char, is_visual: bool) -> Option<Command> {
        let step = self.step(character, is_visual);
        if step != Step::More {
            self.cancel();
        }
        match step {
            Step::Done(command) => Some(command),
            Step::More | Step::Nonsense => None,
        }
    }

    fn step(&mut self, character: char, is_visual: bool) -> Step {
        match self.awaits.take() {
            Some(Awaits::Line) if character == 'g' => return self.motion(Way::Line),
            Some(Awaits::Line) => return Step::Nonsense,
            Some(Awaits::Replacement) => {
                return Step::Done(Command::Replace { with: character, count: self.times() });
            }
            Some(Awaits::Found { backward, till }) => {
                let find = Find { character, backward, till };
                self.last_find = Some(find);
                return self.motion(Way::Find(find));
            }
            None => {}
        }
        if let Some(digit) = character.to_digit(10).filter(|digit| *digit > 0 || self.count.is_some()) {
            let count = self.count.unwrap_or(0) * 10 + digit as usize;
            self.count = Some(count.min(MAX_COUNT));
            return Step::More;
        }
        if let Some(way) = way(character) {
            return self.motion(way);
        }
        match character {
            'g' => self.wait(Awaits::Line),
            'f' => self.wait(Awaits::Found { backward: false, till: false }),
            'F' => self.wait(Awaits::Found { backward: true, till: false }),
            't' => self.wait(Awaits::Found { backward: false, till: true }),
            'T' => self.wait(Awaits::Found { backward: true, till: true }),
            ';' | ',' => match self.last_find {
                Some(find) => self.motion(Way::Find(Find { backward: find.backward != (character == ','), ..find })),
                None => Step::Nonsense,
            },
            'd' | 'c' | 'y' => self.operator(character, is_visual),
            _ if self.operator.is_some() => Step::Nonsense,
            'x' | 's' if is_visual => self.operator(if character == 'x' { 'd' } else { 'c' }, true),
            'o' if is_visual => Step::Done(Command::OtherEnd),
            'v' => Step::Done(Command::Visual),
            'r' => self.wait(Awaits::Replacement),
            _ if is_visual => Step::Nonsense,
            _ => self.command(character),
        }
    }

    fn command(&mut self, character: char) -> Step {
        let count = self.times();
        let passed = |operator, way| Command::Operate(operator, Target::Passed(Motion { way, count }));
        Step::Done(match character {
            'x' => passed(Operator::Delete, Way::Right),
            'X' => passed(Operator::Delete, Way::Left),
            's' => passed(Operator::Change, Way::Right),
            'D' => passed(Operator::Delete, Way::LineEnd),
            'C' => passed(Operator::Change, Way::LineEnd),
            'S' => Command::Operate(Operator::Change, Target::Lines(count)),
            'Y' => Command::Operate(Operator::Yank, Target::Lines(count)),
            'i' => Command::Insert(Place::Here),
            'a' => Command::Insert(Place::Behind),
            'I' => Command::Insert(Place::LineStart),
            'A' => Command::Insert(Place::LineEnd),
            'O' => Command::Insert(Place::Above),
            'o' => Command::Insert(Place::Below),
            'p' => Command::Put { behind: true, count },
            'P' => Command::Put { behind: false, count },
            'u' => Command::Undo(count),
            _ => return Step::Nonsense,
        })
    }

    fn operator(&mut self, name: char, is_visual: bool) -> Step {
        let operator = match name {
            'd' => Operator::Delete,
            'c' => Operator::Change,
            _ => Operator::Yank,
        };
        match self.operator {
            _ if is_visual => Step::Done(Command::Operate(operator, Target::Selection)),
            Some((operator, before, _)) if before == name => {
                Step::Done(Command::Operate(operator, Target::Lines(self.times())))
            }
            Some(_) => Step::Nonsense,
            None => {
                self.operator = Some((operator, name, self.count.take()));
                Step::More
            }
        }
    }

    fn motion(&mut self, way: Way) -> Step {
        let has_count = self.count.is_some() || self.operator.is_some_and(|(.., count)| count.is_some());
        let way = if way == Way::LastLine && has_count { Way::Line } else { way };
        let motion = Motion { way, count: self.times() };
        Step::Done(match self.operator {
            Some((operator, ..)) => Command::Operate(operator, Target::Passed(motion)),
            None => Command::Move(motion),
        })
    }

    fn wait(&mut self, for_it: Awaits) -> Step {
        self.awaits = Some(for_it);
        Step::More
    }

    /// How often: the counts before the operator and behind it are multiplied.
    #[must_use]
    pub fn times(&self) -> usize {
        let before = self.operator.and_then(|(.., count)| count).unwrap_or(1);
        (before * self.count.unwrap_or(1)).clamp(1, MAX_COUNT)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Done(Command),
    More,
    Nonsense,
}

fn way(character: char) -> Option<Way> {
    Some(match character {
        'h' => Way::Left,
        'l' | ' ' => Way::Right,
        'k' => Way::Up,
        'j' => Way::Down,
        'w' => Way::WordForward,
        'b' => Way::WordBackward,
        'e' => Way::WordEnd,
        '0' => Way::LineStart,
        '^' => Way::FirstNonBlank,
        '$' => Way::LineEnd,
        'G' => Way::LastLine,
        _ => return None,
    })
}
