//! Teams: agents that work by a plan that stands in a file.
//!
//! [`mod@file`] is the plan as it is written, [`template`] the texts in it, [`answer`] the JSON in answers, [`plan`] the machine
//! that
//! says who does what when, [`driver`] carries it out, [`result`] is what a run leaves behind.

pub mod answer;
pub mod driver;
pub mod file;
pub mod plan;
pub mod result;
pub mod template;
