mod commands;
mod files;
mod random;
mod world;
