//! `sotto alarm mail`: the server that takes messages of alarms.

use std::path::PathBuf;

use anyhow::Context as _;
use sotto_owner::alarm::{MailServer, MailSettings};
use sotto_owner::{Plant, Unlock, edit};
use zeroize::Zeroizing;

use crate::output::say;
use crate::plant::watch;

#[derive(clap::Args, Debug)]
pub(crate) struct Mail {
    /// The server: smtps://user@host with TLS from the start, smtp://user@host with STARTTLS. Without a password behind the
    /// user, it is asked for
    #[arg(long, value_name = "ADDRESS")]
    server: String,
    /// The sender's address
    #[arg(long, value_name = "ADDRESS")]
    from: String,
    /// The file that holds the password [default: a question on the terminal]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// The authority of the server's certificate, a PEM file in the plant's folder [default: Mozilla's list]
    #[arg(long, value_name = "FILE")]
    ca: Option<String>,
}

/// Refuses addresses that no message can be sent to, by the parser that sends.
pub(super) fn check(addresses: &[&str]) -> anyhow::Result<()> {
    addresses.iter().try_for_each(|one| watch::mailbox(one).map(drop)).map_err(anyhow::Error::msg)
}

/// Writes `[mail]`.
pub(super) fn set(plant: &mut Plant, arguments: Mail) -> anyhow::Result<()> {
    let Mail { server, from, password_file, ca } = arguments;
    watch::trust(plant.folder(), ca.as_ref()).map_err(anyhow::Error::msg)?;
    check(&[&from])?;
    let mut settings = MailSettings { server, from, ca };
    if settings.lacks_password() {
        let password = match &password_file {
            Some(file) => Unlock::password_in(file)?,
            None => rpassword::prompt_password("Password of the server: ")
                .map(Zeroizing::new)
                .context("there is no terminal to ask for the password: name a file that holds it, --password-file FILE")?,
        };
        settings = settings.with_password(&password);
    }
    plant.edit(|document| {
        edit::set_mail(document, &settings);
        Ok(())
    })?;
    let server: MailServer = settings.server.parse()?;
    say(format!("messages of alarms go from {} by {}:{}", settings.from, server.host, server.port));
    say("Next: sotto alarm add … --mail ADDRESS, then sotto alarm test NAME");
    Ok(())
}
