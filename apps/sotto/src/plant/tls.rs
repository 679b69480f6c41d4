//! `sotto tls`: makes the cloud's certificate, and the private authority that signs it.

use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use sotto_owner::{CloudCertificate, Plant};

use super::group::OnPlant;
use crate::output::say;

/// The commands of `sotto tls`.
#[derive(Subcommand, Debug)]
pub(crate) enum Tls {
    /// Make a private authority of the plant and the first certificate of its cloud; devices and this machine then
    /// accept no other.
    Init {
        /// A further DNS name or IP address of the cloud, beside the host in sotto.toml; may be repeated
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
        /// Make a new authority in place of one whose key was stolen; the old one goes to secrets/old
        #[arg(long)]
        replace: bool,
    },
    /// Make a new certificate and key of the cloud under the same authority, for the same hosts: bundles stay valid.
    Renew {
        /// A further DNS name or IP address of the cloud; may be repeated
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
    },
}

impl OnPlant for Tls {
    fn run(self, plant: &mut Plant) -> anyhow::Result<ExitCode> {
        let (files, is_new) = match &self {
            Self::Init { host, replace: false } => (plant.make_tls(host)?, true),
            Self::Init { host, replace: true } => (plant.replace_tls(host)?, true),
            Self::Renew { host } => (plant.renew_tls(host)?, false),
        };
        let folder = plant.folder();
        let named = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let [authority, certificate, key] =
            [&files.authority, &files.certificate, &files.key].map(|path| named(path));
        let CloudCertificate { hosts, valid_until } = &files.of_cloud;
        say("In the plant's folder:");
        if is_new {
            say(format!(
                "  {authority}: the plant's own authority, valid for ten years. Its key is secrets/authority-key: whoever has it can pass for the cloud."
            ));
            say(format!(
                "  sotto.toml: the cloud is {}, with a certificate of this authority.",
                plant.settings().cloud.url
            ));
        }
        say(format!("  {certificate}, {key}: certificate and key for {}.", hosts.join(", ")));
        say(format!("  Valid until {valid_until}; `sotto tls renew` makes the next ones."));
        match (files.is_local, is_new) {
            (true, true) => say("  cloud.toml: the cloud on this machine speaks TLS from its next start."),
            (true, false) => say("The cloud on this machine takes them within a second."),
            (false, true) => {
                say(format!(
                    "Copy {certificate} and {key} to the cloud, and name them in its configuration: tls.certificate, tls.key."
                ));
            }
            (false, false) => {
                say(format!("Copy {certificate} and {key} to the cloud, which takes them within a second."));
            }
        }
        let devices: Vec<String> = plant.devices()?.into_keys().collect();
        if is_new && !devices.is_empty() {
            let renewals: Vec<String> =
                devices.iter().map(|name| format!("sotto device renew {name}")).collect();
            say(format!(
                "Older bundles do not contain the authority. Make new ones: {}",
                renewals.join("; ")
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}
