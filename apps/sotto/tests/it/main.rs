//! The tests of `sotto` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod accept;
mod backup;
mod copies;
mod differences;
mod earlier;
mod empty;
mod extremes;
mod first_answer;
mod fresh;
mod groups;
mod guide;
mod joined;
mod late;
mod names;
mod orders;
mod passphrase;
mod pipes;
mod plant;
mod prices;
mod public;
mod ranked;
mod recovery;
mod recryptor;
mod rounded;
mod schemes;
mod seal;
mod session;
mod spans;
mod status;
mod tags;
mod tls;
mod zones;
