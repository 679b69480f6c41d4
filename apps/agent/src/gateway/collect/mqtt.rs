//! Messages of a broker.
//!
//! A message of QoS 1 is acknowledged once its readings are durable; a broker that is away then sends it again. Messages that
//! the broker acknowledged to its sender and lost before they came here are outside the promise, and so are those of QoS 0
//! while the connection is broken.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use sotto_http::is_loopback;
use sotto_mqtt::{Broker, Connection, Login, Message, MqttError, Options, Version};
use sotto_preset::{Decoded, Decoder};
use zeroize::Zeroizing;

use super::hand_over::hand_over;
use super::points::points;
use super::{Collector, Site, Trouble, decoder};
use crate::arguments::{CollectArguments, MqttVersion};
use crate::bundle::authorities;
use crate::output::tell;
use crate::spool::private;

/// Messages, and bytes of them, that are acknowledged together.
const MOST_MESSAGES: usize = 500;
const MOST_BYTES: usize = 1 << 20;
/// Time between two looks at a stop.
const LOOK: Duration = Duration::from_millis(250);
/// Maximum length of a file with a password, and the environment's names.
const LONGEST_PASSWORD: u64 = 4096;
const USER: &str = "SOTTO_MQTT_USER";
const PASSWORD: &str = "SOTTO_MQTT_PASSWORD";
/// The file with the name under which brokers know this gateway.
const CLIENT: &str = "mqtt-client";

/// A subscriber of a broker.
pub(super) struct Subscriber {
    options: Options,
    decoder: Decoder,
}

impl Subscriber {
    pub(super) fn new(
        arguments: &CollectArguments,
        broker: &Broker,
        folder: &Path,
        site: &Site,
    ) -> Result<Self> {
        let login = login(arguments)?;
        let shows = !broker.tls && !is_loopback(&broker.host);
        if shows
            && login.as_ref().is_some_and(|login| login.password.is_some())
            && !arguments.mqtt_plain_password
        {
            bail!(
                "{broker} would show its password to the network: use mqtts://, or say --mqtt-plain-password if you trust it"
            );
        }
        // A check leaves no session behind, and does not take the name of the gateway that runs.
        let checks = site.seen.is_some();
        let client = if checks { random_name()? } else { client_name(folder)? };
        let version = match arguments.mqtt_version {
            MqttVersion::V3 => Version::V3,
            MqttVersion::V5 => Version::V5,
        };
        let options = Options {
            login,
            trust: arguments.mqtt_ca.as_deref().map(authorities).transpose()?.unwrap_or_default(),
            version,
            session: !checks,
            ..Options::new(broker.clone(), &client)
        };
        Ok(Self { options, decoder: decoder(arguments, &site.zone)? })
    }

    /// Reads the messages that are there. Returns them with the reason if the connection broke.
    fn gather(connection: &mut Connection, first: Message) -> (Vec<Message>, Option<MqttError>) {
        let (mut bytes, mut messages) = (first.payload.len(), vec![first]);
        while messages.len() < MOST_MESSAGES && bytes < MOST_BYTES {
            match connection.next(Duration::ZERO) {
                Ok(Some(message)) => {
                    bytes += message.payload.len();
                    messages.push(message);
                }
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
        (messages, None)
    }

    fn session(&mut self, site: &Site) -> Result<(), (MqttError, bool)> {
        let mut connection = Connection::open(&self.options).map_err(|error| (error, false))?;
        let filters = self.decoder.preset().filters();
        connection.subscribe(&filters).map_err(|error| (error, false))?;
        tell(format!("sotto-agent: listening to {} at {}", filters.join(", "), self.options.broker));
        let broke = |error| (error, true);
        while !site.stop.is_asked() {
            let Some(first) = connection.next(LOOK).map_err(broke)? else { continue };
            let (messages, ended) = Self::gather(&mut connection, first);
            if !self.take(&messages, site) {
                break;
            }
            if let Some(error) = ended {
                return Err(broke(error));
            }
            for message in &messages {
                connection.acknowledge(message).map_err(broke)?;
            }
        }
        connection.close();
        Ok(())
    }

    /// Hands the readings of messages over. Returns false if a stop came before they were durable.
    fn take(&mut self, messages: &[Message], site: &Site) -> bool {
        let mut all = Vec::new();
        for message in messages {
            let decoded = self.decoder.decode(&message.topic, &message.payload, message.retained);
            if let Some(seen) = &site.seen {
                seen.count(&message.topic, &decoded);
            }
            match decoded {
                Decoded::Reports(reports) => {
                    all.extend(reports.into_iter().flat_map(|report| points(report, &message.topic)));
                }
                Decoded::Refused(reason) => {
                    tracing::debug!(topic = message.topic, %reason, "a message is refused");
                }
                _ => {}
            }
        }
        hand_over(&all, &self.options.broker.to_string(), site)
    }
}

impl Collector for Subscriber {
    fn name(&self) -> String {
        self.options.broker.to_string()
    }

    fn collect(&mut self, site: &Site) -> Result<(), Trouble> {
        self.session(site).map_err(|(error, had_worked)| Trouble { reason: error.to_string(), had_worked })
    }
}

/// Returns user and password: from the arguments, a file, or the environment.
fn login(arguments: &CollectArguments) -> Result<Option<Login>> {
    let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let user = arguments.mqtt_user.clone().or_else(|| text(USER));
    let password = match &arguments.mqtt_password_file {
        Some(path) => {
            let mut password = Zeroizing::new(String::new());
            let shown = || format!("the password in {} cannot be read", path.display());
            let file = File::open(path).with_context(shown)?;
            file.take(LONGEST_PASSWORD).read_to_string(&mut password).with_context(shown)?;
            Some(Zeroizing::new(password.trim_end_matches(['\r', '\n']).to_owned()))
        }
        None => text(PASSWORD).map(Zeroizing::new),
    };
    match (user, password) {
        (Some(user), password) => Ok(Some(Login { user, password })),
        (None, Some(_)) => bail!("a password without a user: give --mqtt-user, or {USER}"),
        (None, None) => Ok(None),
    }
}

/// Returns the name under which the broker keeps this gateway's session: made once for the folder. Every broker takes 23
/// letters and digits.
fn client_name(folder: &Path) -> Result<String> {
    let path = folder.join(CLIENT);
    let shown = || format!("{} cannot be used", path.display());
    match fs::read_to_string(&path) {
        Ok(name) if is_client_name(name.trim()) => return Ok(name.trim().to_owned()),
        Ok(_) => bail!("{} is damaged: remove it, and the broker begins a new session", path.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(shown),
    }
    let name = random_name()?;
    let mut file = private::options().write(true).create_new(true).open(&path).with_context(shown)?;
    file.write_all(name.as_bytes()).and_then(|()| file.sync_all()).with_context(shown)?;
    Ok(name)
}

fn is_client_name(name: &str) -> bool {
    (1..=23).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn random_name() -> Result<String> {
    fn draw(mut rng: impl sotto_ring::SecretRng) -> u64 {
        u64::from(rng.next_u32()) << 32 | u64::from(rng.next_u32())
    }
    let number = sotto_ring::secure_rng().map(draw).context("the system gives no randomness")?;
    Ok(format!("sotto{number:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_name_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let name = client_name(folder.path()).unwrap();
        assert!(is_client_name(&name) && name.starts_with("sotto"));
        assert_eq!(client_name(folder.path()).unwrap(), name);
        assert_ne!(random_name().unwrap(), name);
        fs::write(folder.path().join(CLIENT), "a b").unwrap();
        assert!(client_name(folder.path()).unwrap_err().to_string().contains("damaged"));
    }
}
