//! What the services share: connections that end, bodies that are bounded, tokens, TLS, problem documents, logs, configuration, folders,
//! stopping. No
//! cryptography, and nothing that a service does.

pub mod address;
pub mod body;
pub mod config;
pub mod connections;
pub mod folder;
pub mod logs;
pub mod outside;
pub mod peers;
pub mod private;
pub mod problem;
pub mod stop;
pub mod tls;
pub mod token;
pub mod work;
