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
    ($L:ty, $l:ident; $a:ident, $($b:ident),*; $x:ident, $($y:ident),* => $value:expr; $rest:expr) => {{
        let (lines, $a) = <$L>::lines_mut($a);
        // Cut to one length, so that the loop needs no bounds checks.
        $(let ($y, $b) = <$L>::lines($b);
        let $y = &$y[..lines.len()];)*
        let (groups, last) = lines.as_chunks_mut::<4>();
        let whole = 4 * groups.len();
        for (at, group) in groups.iter_mut().enumerate() {
            for (side, line) in group.iter_mut().enumerate() {
                let $x = $l.load(line);
                $(let $y = $l.load(&$y[4 * at + side]);)*
                $l.store(line, $value);
            }
        }
        for (at, line) in last.iter_mut().enumerate() {
            let $x = $l.load(line);
            $(let $y = $l.load(&$y[whole + at]);)*
            $l.store(line, $value);
        }
        $rest
    }};
}
pub(crate) use lines;
