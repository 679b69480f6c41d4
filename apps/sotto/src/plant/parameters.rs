//! Values of parameters of questions: `sotto ask report --room kitchen`.

use std::collections::BTreeMap;

use sotto_owner::OwnerError;

/// Reads `room=kitchen`.
pub(crate) fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, as in --with room=kitchen")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns values by name.
pub(crate) fn once(values: &[(String, String)]) -> Result<BTreeMap<String, String>, OwnerError> {
    let mut all = BTreeMap::new();
    for (name, value) in values {
        if all.insert(name.clone(), value.clone()).is_some() {
            let twice =
                format!("--{name} comes twice: give several values with commas, as in --{name} kitchen,hall");
            return Err(OwnerError::Question(twice));
        }
    }
    Ok(all)
}
