//! When frames are drawn.

use std::time::Duration;

use tokio::time::Instant;

use super::{ScreenMsg, ScreenState};
use crate::{actors::event_bus::BusMsg, tui::view};

/// The time between two frames of what moves by itself. Text that streams in reads as smoothly at 30 frames a second as
/// at 60, for half of the work.
const FRAME: Duration = Duration::from_millis(33);
/// How often things that move by themselves are drawn.
const TICK: Duration = Duration::from_millis(view::status::SPINNER_MS);

impl ScreenState {
    /// Draws now, unless the terminal has not taken the last frame yet.
    pub(super) fn draw(&mut self) {
        self.dirty = true;
        if self.away || self.ending || self.terminal.is_busy() {
            return;
        }
        if self.model.surroundings.fullscreen {
            self.terminal.draw(view::draw(&mut self.model));
        } else {
            let (over, live) = view::regular::draw(&mut self.model);
            self.terminal.commit(&over);
            self.terminal.draw(live);
        }
        self.dirty = false;
        self.owes_echo = false;
        self.drawn = Instant::now();
        if let Some((id, waits)) = &mut self.watching
            && std::mem::take(waits)
        {
            self.agent.shared.bus.tell(BusMsg::Ready(*id));
        }
    }

    /// Draws as soon as a frame's time has passed since the last one.
    pub(super) fn draw_in_time(&mut self) {
        self.dirty = true;
        let passed = self.drawn.elapsed();
        if passed >= FRAME {
            return self.draw();
        }
        if !std::mem::replace(&mut self.frame_due, true) {
            self.myself.send_after(FRAME - passed, || ScreenMsg::Frame);
        }
    }

    pub(super) fn plan_tick(&mut self) {
        if self.model.is_moving() && !std::mem::replace(&mut self.tick_due, true) {
            self.myself.send_after(TICK, || ScreenMsg::Tick);
        }
    }
}
