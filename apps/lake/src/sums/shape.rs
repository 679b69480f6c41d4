//! Windows of equal lengths and counts, part by part.

use std::ops::Range;

use sotto_sums::TAG_BYTES;

use super::bodies::Bodies;
use super::group::Rows;
use super::streams::Stream;
use crate::LakeError;

/// Counts and lengths of windows that have the same lists.
struct Form {
    stream: usize,
    facts: (i32, u8, Vec<u8>),
    /// The ticks that are sent.
    ticks: u32,
    /// For each part of the stream: the bytes of its body, and true if it is added.
    parts: Vec<(usize, bool)>,
}

/// Makes rows of windows. The form of the last ones is kept: most have the same.
#[derive(Default)]
pub(super) struct Shape {
    form: Option<Form>,
    /// For each part that is added its counts, and for each window a body and a tag.
    rows: Vec<(Vec<u16>, Vec<u8>)>,
}

impl Shape {
    /// Returns rows of windows that have the form of the first one.
    pub(super) fn rows(
        &mut self,
        bodies: &Bodies<'_>,
        range: Range<usize>,
        (number, of): (usize, &Stream),
    ) -> Result<Rows<'_>, LakeError> {
        self.describe(bodies, range.start, (number, of))?;
        let Some(form) = &self.form else { return Ok(Rows { ticks: 0, parts: &[] }) };
        let short = |row| LakeError::Window {
            device: of.header.device().to_owned(),
            stream: of.header.stream().to_owned(),
            number: bodies.number(row),
            reason: "its places have another length than those of its stream".to_owned(),
        };
        self.rows.iter_mut().for_each(|(_, rows)| rows.clear());
        for row in range {
            let (mut places, tags) = (bodies.places(row), bodies.tags(row).as_chunks::<TAG_BYTES>().0);
            let mut added = self.rows.iter_mut();
            for (part, (bytes, is_added)) in form.parts.iter().enumerate() {
                let (body, rest) = places.split_at_checked(*bytes).ok_or_else(|| short(row))?;
                places = rest;
                if *is_added {
                    let ((_, rows), tag) = added.next().zip(tags.get(part)).ok_or_else(|| short(row))?;
                    rows.extend_from_slice(body);
                    rows.extend_from_slice(tag);
                }
            }
            if !places.is_empty() {
                return Err(short(row));
            }
        }
        Ok(Rows { ticks: form.ticks, parts: &self.rows })
    }

    /// Takes counts and lengths from the head of a window, unless they are those of the last one.
    fn describe(
        &mut self,
        bodies: &Bodies<'_>,
        row: usize,
        (number, of): (usize, &Stream),
    ) -> Result<(), LakeError> {
        let (ticks, flags, lists) = bodies.form(row);
        let is_same = self.form.as_ref().is_some_and(|form| {
            form.stream == number
                && (form.facts.0, form.facts.1, form.facts.2.as_slice()) == (ticks, flags, lists)
        });
        if is_same {
            return Ok(());
        }
        let window = bodies.description(row, &of.header)?;
        let sent = window.sent_ticks();
        let mut parts = Vec::with_capacity(of.header.parts().len());
        self.rows.clear();
        for (number, part) in (0..).zip(of.header.parts()) {
            let (bytes, is_added) =
                (of.header.sums_form(usize::from(number))?.body_bytes(sent), of.parts.contains(&number));
            if is_added {
                self.rows.push((part.counts(&window), Vec::new()));
            }
            parts.push((bytes, is_added));
        }
        self.form = Some(Form { stream: number, facts: (ticks, flags, lists.to_vec()), ticks: sent, parts });
        Ok(())
    }
}
