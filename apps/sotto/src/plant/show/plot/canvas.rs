//! A grid of dots made of Braille characters, two dots wide and four high.

/// The bit of each dot in a Braille character, by column and row.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// The dots; (0, 0) is at the top left. Dots outside the canvas are ignored.
pub(super) struct Canvas {
    columns: usize,
    cells: Vec<u32>,
}

impl Canvas {
    /// Makes an empty canvas of `columns` × `lines` characters.
    pub(super) fn new(columns: usize, lines: usize) -> Self {
        Self { columns, cells: vec![0; columns * lines] }
    }

    pub(super) fn dot(&mut self, x: i64, y: i64) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x / 2 < self.columns
            && let Some(cell) = self.cells.get_mut(y / 4 * self.columns + x / 2)
        {
            *cell |= DOTS[x % 2][y % 4];
        }
    }

    /// Draws a line with Bresenham's algorithm, both ends included.
    pub(super) fn line(&mut self, from: (i64, i64), to: (i64, i64)) {
        let (wide, high) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        let (right, down) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
        let (mut x, mut y, mut error) = (from.0, from.1, wide - high);
        loop {
            self.dot(x, y);
            if (x, y) == to {
                return;
            }
            let twice = 2 * error;
            if twice > -high {
                error -= high;
                x += right;
            }
            if twice < wide {
                error += wide;
                y += down;
            }
        }
    }

    /// Draws every second dot of a column; neighbouring columns alternate.
    pub(super) fn stipple(&mut self, x: i64, top: i64, bottom: i64) {
        (top..=bottom).filter(|y| (x + y) % 2 == 0).for_each(|y| self.dot(x, y));
    }

    /// Returns the lines from the top, without trailing blanks.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.cells.chunks(self.columns).map(|cells| {
            let line: String = cells.iter().filter_map(|dots| char::from_u32(0x2800 + dots)).collect();
            line.trim_end_matches('\u{2800}').to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(draw: impl Fn(&mut Canvas)) -> Vec<String> {
        let mut canvas = Canvas::new(2, 1);
        draw(&mut canvas);
        canvas.lines().collect()
    }

    #[test]
    fn lines_join_their_ends() {
        assert_eq!(picture(|canvas| canvas.line((0, 0), (3, 3))), ["⠑⢄"]);
        assert_eq!(picture(|canvas| canvas.line((3, 3), (0, 0))), ["⠑⢄"]);
        assert_eq!(picture(|canvas| canvas.line((0, 1), (3, 1))), ["⠒⠒"]);
        assert_eq!(picture(|canvas| canvas.line((1, 3), (1, 0))), ["⢸"]);
    }

    #[test]
    fn dots_outside_are_not_drawn() {
        let dots = [(-1, 0), (0, -1), (4, 0), (0, 4)];
        assert_eq!(picture(|canvas| dots.iter().for_each(|(x, y)| canvas.dot(*x, *y))), [""]);
    }

    #[test]
    fn stipples_alternate() {
        assert_eq!(picture(|canvas| (0..2).for_each(|x| canvas.stipple(x, 0, 3))), ["⢕"]);
    }
}
