//! Code shared by the services: connections with time limits, bounded bodies, tokens, TLS, problem documents, logs,
//! configuration, folders, migrations, and stopping. It contains no homomorphic cryptography and no logic of a
//! particular service.

pub mod address;
pub mod body;
pub mod config;
pub mod connections;
pub mod folder;
pub mod logs;
pub mod migrations;
pub mod outside;
pub mod peers;
pub mod private;
pub mod problem;
pub mod routes;
pub mod stop;
pub mod tls;
pub mod token;
pub mod work;

