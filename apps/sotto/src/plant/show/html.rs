//! An answer as one page that needs no other file.

use sotto_owner::Answer;

/// The page.
pub(crate) fn html(answer: &Answer) -> String {
    format!("<!doctype html><title>{}</title>", answer.question)
}
