//! Questions to the user.
