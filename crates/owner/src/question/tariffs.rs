//! The tariffs of a question.

use std::collections::BTreeSet;

use super::{Expression, OfGroups, Priced, Question};
use crate::language::Tariff;

impl Question {
    /// Iterates over the costs in the order of the text.
    pub fn priced(&self) -> impl Iterator<Item = &Priced> {
        let asked = self.select.iter().flat_map(|selected| selected.expression.asked());
        asked.filter_map(|(_, _, groups)| match groups {
            OfGroups::Priced(priced) => Some(priced),
            OfGroups::Own | OfGroups::Along(_) | OfGroups::Earlier(_) => None,
        })
    }

    /// Returns the attached tariffs, each file once, in the order of the text.
    pub(crate) fn tariffs(&self) -> Vec<(&str, &Tariff)> {
        let mut all: Vec<(&str, &Tariff)> = Vec::new();
        for Priced { file, tariff, .. } in self.priced() {
            if let Some(tariff) = tariff
                && all.iter().all(|(known, _)| known != file)
            {
                all.push((file, tariff));
            }
        }
        all
    }

    /// Returns the files of tariffs that are not attached yet.
    #[must_use]
    pub fn missing_tariffs(&self) -> BTreeSet<String> {
        self.priced().filter(|priced| priced.tariff.is_none()).map(|priced| priced.file.clone()).collect()
    }

    /// Attaches a tariff wherever the question names `file`.
    pub fn attach_tariff(&mut self, file: &str, tariff: &Tariff) {
        self.change_tariffs(&mut |here, slot| {
            if here == file {
                *slot = Some(tariff.clone());
            }
        });
    }

    pub(super) fn change_tariffs(&mut self, change: &mut impl FnMut(&str, &mut Option<Tariff>)) {
        for selected in &mut self.select {
            selected.expression.change_parts(&mut |part| {
                if let Expression::Priced(Priced { file, tariff, .. }) = part {
                    change(file, tariff);
                }
            });
        }
    }
}
