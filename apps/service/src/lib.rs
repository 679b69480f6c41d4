//! Code shared by the services: running and stopping, settings, routes, connections with time limits, bounded bodies,
//! tokens, TLS, problem documents, logs, folders, and migrations. It contains no homomorphic cryptography and no logic of
//! a particular service.

pub mod address;
pub mod body;
pub mod buffer;
mod check;
pub mod config;
pub mod connections;
pub mod folder;
mod handles;
pub mod logs;
pub mod migrations;
mod outside;
pub mod peers;
pub mod private;
pub mod problem;
pub mod routes;
mod sender;
mod server;
pub mod settings;
pub mod stop;
mod strangers;
pub mod tls;
pub mod token;
pub mod work;

pub use check::check;
pub use server::{GRACE, Server, Service, run};
