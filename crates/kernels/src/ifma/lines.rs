//! Loops over whole vectors.

/// Runs a loop on the whole vectors of slices of one length, and the scalar kernel on the rest.
macro_rules! lines {
    ($a:ident, $($b:ident),*; $x:ident, $($y:ident),* => $value:expr; $rest:expr) => {{
        let (lines, $a) = $a.as_chunks_mut::<8>();
        // Cut to one length, so that the loop needs no bounds checks.
        $(let ($y, $b) = $b.as_chunks::<8>();
        let $y = &$y[..lines.len()];)*
        for (at, line) in lines.iter_mut().enumerate() {
            let $x = $crate::ifma::lanes::load(line);
            $(let $y = $crate::ifma::lanes::load(&$y[at]);)*
            $crate::ifma::lanes::store(line, $value);
        }
        $rest
    }};
}
pub(crate) use lines;

use super::lanes::Line;

/// Vectors computed side by side, so that constants are loaded once for all of them.
pub(crate) const SIDE: usize = 4;

/// Returns group number `index` of a slice.
#[inline(always)]
pub(crate) fn side(words: &[u64], index: usize) -> &[Line; SIDE] {
    let (lines, _) = words.as_chunks::<8>();
    lines[SIDE * index..].first_chunk().expect("a whole group")
}
