//! The flooding budgets of keys.

use std::path::PathBuf;

use sotto_decrypt::FloodingBudget;
use sotto_rlwe::KeyId;

use crate::declared::{FloodingSettings, Plant};
use crate::error::OwnerError;
use crate::files::make_folder;

/// The folder of the budgets, in `secrets/`.
const FOLDER: &str = "flooding";

/// Returns the path of a key's budget.
fn budget_path(plant: &Plant, key: KeyId) -> PathBuf {
    plant.secret_path(FOLDER).join(format!("{key}.budget"))
}

/// Opens the budget of a key, or creates it with the terms in the settings.
pub(crate) fn flooding_budget(plant: &Plant, key: KeyId) -> Result<FloodingBudget, OwnerError> {
    let path = budget_path(plant, key);
    if path.exists() {
        return Ok(FloodingBudget::open(&path)?);
    }
    make_folder(&plant.secret_path(FOLDER), true)?;
    let FloodingSettings { statistical_bits, results } = plant.settings().flooding;
    Ok(FloodingBudget::create(&path, key, statistical_bits, results)?)
}
