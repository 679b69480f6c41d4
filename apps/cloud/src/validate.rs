//! `sotto-cloud config validate`: checks a configuration as a start does.

use std::path::Path;

use anyhow::Context as _;
use sotto_service::token::Token;
use sotto_service::{check, config, folder};

use crate::config::{Config, Settings};
use crate::identity::Identity;
use crate::objects::Place;

/// Checks a file, and the files and folders that it names, as a start does; makes none of them. It may lack the store's
/// folder and the owner's token, which flags can give.
///
/// # Errors
/// Those of a start with this file.
pub fn validate(file: &Path) -> anyhow::Result<()> {
    checked(file).with_context(|| format!("{} cannot be used", file.display()))?;
    config::print(&format!("{}: can be used\n", file.display()))
}

fn checked(file: &Path) -> anyhow::Result<()> {
    let settings = Settings::read(file)?;
    let (names_data, names_token) = (settings.data.is_some(), settings.owner_token_file.is_some());
    let left_to_flags =
        Settings { data: Some("".into()), owner_token_file: Some("".into()), ..Settings::default() };
    let config = Config::new(settings.or(left_to_flags))?;
    check(&config.listening)?;
    if names_token {
        Token::read(&config.owner_token_file)?;
    }
    if names_data {
        folder::check(&config.data).with_context(|| format!("cannot open {}", config.data.display()))?;
    }
    if names_data || config.signing_key_file.is_some() {
        Identity::check(&config)?;
    }
    config.objects.as_ref().map_or(Ok(()), Place::check)?;
    match &config.enrolments {
        Some(folder) if folder.exists() => {
            let listed = std::fs::read_dir(folder);
            listed.with_context(|| format!("cannot list {}", folder.display())).map(drop)
        }
        _ => Ok(()),
    }
}
