//! Loops over whole vectors.

/// Runs a loop on the whole vectors of slices of one length, and the scalar kernel on the rest.
macro_rules! lines {
    ($L:ty, $l:ident; $a:ident; $x:ident => $value:expr; $rest:expr) => {{
        let (lines, $a) = <$L>::lines_mut($a);
        for line in lines {
            let $x = $l.load(line);
            $l.store(line, $value);
        }
        $rest
    }};
    // Four vectors a turn: in place, the loop would wait for its own instructions and not for memory.
    ($L:ty, $l:ident; $a:ident, $b:ident; $x:ident, $y:ident => $value:expr; $rest:expr) => {{
        let (lines, $a) = <$L>::lines_mut($a);
        let (others, $b) = <$L>::lines($b);
        let (groups, last) = lines.as_chunks_mut::<4>();
        let (other_groups, other_last) = others.as_chunks::<4>();
        for (group, others) in groups.iter_mut().zip(other_groups) {
            for (line, other) in group.iter_mut().zip(others) {
                let ($x, $y) = ($l.load(line), $l.load(other));
                $l.store(line, $value);
            }
        }
        for (line, other) in last.iter_mut().zip(other_last) {
            let ($x, $y) = ($l.load(line), $l.load(other));
            $l.store(line, $value);
        }
        $rest
    }};
    ($L:ty, $l:ident; $a:ident, $($b:ident),*; $x:ident, $($y:ident),* => $value:expr; $rest:expr) => {{
        let (lines, $a) = <$L>::lines_mut($a);
        // Cut to one length, so that the loop needs no bounds checks.
        $(let ($y, $b) = <$L>::lines($b);
        let $y = &$y[..lines.len()];)*
        for (at, line) in lines.iter_mut().enumerate() {
            let $x = $l.load(line);
            $(let $y = $l.load(&$y[at]);)*
            $l.store(line, $value);
        }
        $rest
    }};
}
pub(crate) use lines;
