//! `sotto tls`: the cloud's certificate, and the private authority that signs it.

use std::process::ExitCode;

use clap::Subcommand;
use sotto_owner::{CloudCertificate, Plant, TlsFiles};

use super::Place;
use crate::output::say;

/// Arguments of `sotto tls`.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: Place,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make an authority of the plant's own and the first certificate of its cloud; devices and this machine then accept no other.
    Init {
        /// A further DNS name or IP address of the cloud, beside the host in sotto.toml; may be repeated
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
    },
    /// Make a new certificate and key of the cloud under the same authority, for the same hosts: bundles stay as they are.
    Renew {
        /// A further DNS name or IP address of the cloud; may be repeated
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
    },
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut plant = arguments.place.open()?;
    match &arguments.command {
        Command::Init { host } => {
            let files = plant.make_tls(host)?;
            say(format!(
                "{}: the plant's own authority, valid for ten years. Its key is secrets/ca.key; whoever has it can pass for the cloud.",
                files.authority.display()
            ));
            tell_certificate(&files);
            say(format!(
                "sotto.toml: the cloud is {}, with a certificate of this authority.",
                plant.settings().cloud.url
            ));
            if files.is_local {
                say("cloud.toml: the cloud on this machine speaks TLS from its next start.");
            } else {
                tell_copies(&files);
                say(
                    "In the cloud's configuration: [tls] with certificate = \"server.pem\" and key = \"server.key\" (mode 0600), and `listen`.",
                );
            }
            tell_bundles(&plant)?;
        }
        Command::Renew { host } => {
            let files = plant.renew_tls(host)?;
            tell_certificate(&files);
            if files.is_local {
                say("The cloud on this machine takes them within a second.");
            } else {
                tell_copies(&files);
                say("The cloud takes them within a second.");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn tell_certificate(TlsFiles { certificate, key, of_cloud, .. }: &TlsFiles) {
    let CloudCertificate { hosts, valid_until } = of_cloud;
    say(format!(
        "{}, {}: certificate and key of the cloud for {}, valid until {valid_until}: run `sotto tls renew` before.",
        certificate.display(),
        key.display(),
        hosts.join(", ")
    ));
}

fn tell_copies(TlsFiles { certificate, key, .. }: &TlsFiles) {
    say(format!("Copy these two files to the cloud: {}, {}", certificate.display(), key.display()));
}

/// Bundles that were made before know neither the authority nor an https address.
fn tell_bundles(plant: &Plant) -> anyhow::Result<()> {
    let names: Vec<String> = plant.devices()?.into_keys().collect();
    if !names.is_empty() {
        say(format!(
            "Bundles that were made before do not know the authority. Make new ones: {}",
            names.iter().map(|name| format!("sotto device renew {name}")).collect::<Vec<_>>().join("; ")
        ));
    }
    Ok(())
}
