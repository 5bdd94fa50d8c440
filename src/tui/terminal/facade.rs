//! temp
use super::*;
use crate::tui::text::StyledLine;
/// t
#[derive(Default)]
pub struct TerminalOptions {
    /// f
    pub fullscreen: bool,
}
/// t
pub struct Terminal;
/// e
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct TerminalError;
impl Terminal {
    /// a
    pub fn open(_: TerminalOptions, _: impl Fn(TerminalEvent) + Send + 'static) -> Result<Self, TerminalError> {
        Ok(Self)
    }
    /// a
    pub fn size(&self) -> (u16, u16) {
        (80, 24)
    }
    /// a
    pub fn draw(&mut self, _: Frame) {}
    /// a
    pub fn is_busy(&self) -> bool {
        false
    }
    /// a
    pub fn written(&mut self) {}
    /// a
    pub fn copy(&mut self, _: &str) {}
    /// a
    pub fn set_title(&mut self, _: &str) {}
    /// a
    pub fn notify(&mut self, _: &str) {}
    /// a
    pub fn suspend(&mut self) {}
    /// a
    pub fn pause(&mut self) {}
    /// a
    pub fn resume(&mut self) {}
    /// a
    pub fn close(&mut self, _: &[StyledLine]) {}
}
/// e
pub enum TerminalEvent {
    /// a
    Input(Vec<InputEvent>),
    /// b
    Written,
}
