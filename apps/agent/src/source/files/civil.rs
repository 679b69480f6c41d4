//! Dates and times as text, split into parts, without a time zone.

use jiff::civil::DateTime;

/// The order of year, month and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// 2014-02-14
    YearMonthDay,
    /// 14.02.2014
    DayMonthYear,
    /// 02/14/2014
    MonthDayYear,
}

/// The parts of a date and time, in the order as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    date: [u32; 3],
    /// True if the year comes first, false if it comes last.
    year_first: bool,
    /// The character between the parts of the date; 0 if there is none.
    pub(super) mark: u8,
    /// Hour, minute, second, millisecond.
    time: [u32; 4],
    /// The last part of the time that is present: 0 none, 2 minutes, 3 seconds.
    pub(super) precision: u8,
    /// Seconds east of UTC.
    pub(super) offset: Option<i32>,
}

impl Parts {
    /// Parses a text as a whole; `None` if it is not a date with an optional time.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut text = Cursor(text.as_bytes());
        let (mut date, mut year_first, mut mark) = ([0; 3], true, 0);
        let digits = text.digits();
        if digits >= 8 {
            date = [text.number(4, 4)?, text.number(2, 2)?, text.number(2, 2)?];
        } else {
            let mut lengths = [0; 3];
            for part in 0..3 {
                lengths[part] = text.digits();
                date[part] = text.number(1, 4)?;
                if part < 2 {
                    let found = text.next().filter(|byte| b"-/.".contains(byte))?;
                    if part > 0 && found != mark {
                        return None;
                    }
                    mark = found;
                }
            }
            year_first = match lengths {
                [4, 1 | 2, 1 | 2] => true,
                [1 | 2, 1 | 2, 4] => false,
                _ => return None,
            };
        }
        let mut parts = Self { date, year_first, mark, time: [0; 4], precision: 0, offset: None };
        if !text.is_empty() {
            let separated = text.skip(b' ') || text.skip_one(b"Tt");
            // The date and the time may touch only if both are digits: 201402142130.
            if !separated && (mark != 0 || digits < 12) {
                return None;
            }
            parts.read_time(&mut text)?;
        }
        text.is_empty().then_some(parts)
    }

    fn read_time(&mut self, text: &mut Cursor<'_>) -> Option<()> {
        let compact = text.digits() > 2;
        self.time[0] = if compact { text.number(2, 2)? } else { text.number(1, 2)? };
        // 18:30:00, or 18.30.00 as some loggers write it.
        let mark: &[u8] = if !compact && text.skip_one(b":") { b":" } else { b"." };
        if !compact && mark == b"." && !text.skip_one(mark) {
            return None;
        }
        self.time[1] = text.number(2, 2)?;
        self.precision = 2;
        let seconds = if compact { text.digits() > 0 } else { text.skip_one(mark) };
        if seconds {
            // A leap second counts as the second before it.
            self.time[2] = text.number(2, 2)?;
            self.time[2] -= u32::from(self.time[2] == 60);
            self.precision = 3;
            if text.skip_one(b".,") {
                self.time[3] = text.milliseconds()?;
            }
        }
        text.skip(b' ');
        if let Some(afternoon) = text.half_of_day() {
            if !(1..=12).contains(&self.time[0]) {
                return None;
            }
            self.time[0] = self.time[0] % 12 + if afternoon { 12 } else { 0 };
            text.skip(b' ');
        }
        if !text.is_empty() {
            self.offset = Some(text.offset()?);
        }
        Some(())
    }

    /// Returns the possible orders of the date: two if day and month cannot be told apart. Eight digits or more without
    /// marks are a date only if the year is 1900 … 2100; otherwise they are a plain number.
    pub(super) fn orders(&self) -> impl Iterator<Item = Order> + '_ {
        let orders: &[Order] = match (self.year_first, self.mark) {
            (true, 0) if !(1900..=2100).contains(&self.date[0]) => &[],
            (true, _) => &[Order::YearMonthDay],
            (false, b'.') => &[Order::DayMonthYear],
            (false, _) => &[Order::DayMonthYear, Order::MonthDayYear],
        };
        orders.iter().copied().filter(|order| self.date_time(*order).is_some())
    }

    /// Returns the date and time in this order; `None` if that date does not exist.
    pub(super) fn date_time(&self, order: Order) -> Option<DateTime> {
        let [one, two, three] = self.date;
        let (year, month, day) = match order {
            Order::YearMonthDay if self.year_first => (one, two, three),
            Order::DayMonthYear if !self.year_first => (three, two, one),
            Order::MonthDayYear if !self.year_first => (three, one, two),
            _ => return None,
        };
        let small = |number: u32| i8::try_from(number).ok();
        let [hour, minute, second, millisecond] = self.time;
        let nanosecond = i32::try_from(millisecond).ok()? * 1_000_000;
        let year = i16::try_from(year).ok()?;
        let (month, day) = (small(month)?, small(day)?);
        // 24:00 is the midnight that ends the day.
        if self.time == [24, 0, 0, 0] {
            return DateTime::new(year, month, day, 0, 0, 0, 0).ok()?.tomorrow().ok();
        }
        DateTime::new(year, month, day, small(hour)?, small(minute)?, small(second)?, nanosecond).ok()
    }
}

/// Reads 2014-02-14 21:30 or 2014-02-14 21:30:05, the most common way, fast; `None` for all others.
pub(super) fn iso(text: &[u8]) -> Option<DateTime> {
    if !matches!(text.len(), 16 | 19) || !matches!(text[10], b' ' | b'T') {
        return None;
    }
    let marks = text[4] == b'-'
        && text[7] == b'-'
        && text[13] == b':'
        && text.get(16).is_none_or(|mark| *mark == b':');
    let two = |at: usize| {
        let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then_some((10 * tens + ones) as i8)
    };
    if !marks {
        return None;
    }
    let (century, year) = (two(0)?, two(2)?);
    let second = if text.len() == 19 { two(17)? } else { 0 };
    let year = 100 * i16::from(century) + i16::from(year);
    DateTime::new(year, two(5)?, two(8)?, two(11)?, two(14)?, second, 0).ok()
}

/// The unread rest of a text.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Counts the leading digits.
    fn digits(&self) -> usize {
        self.0.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// Reads a number of `least` to `most` digits; `most` is at most 9.
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self.digits().min(most);
        if count < least {
            return None;
        }
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        Some(digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
    }

    /// Reads the fraction of a second, truncated to milliseconds.
    fn milliseconds(&mut self) -> Option<u32> {
        let count = self.digits();
        let number = self.number(1, 3)?;
        self.0 = &self.0[count - count.min(3)..];
        Some(number * [100, 10, 1][count.min(3) - 1])
    }

    /// Skips a run of one character. Returns true if there was at least one.
    fn skip(&mut self, byte: u8) -> bool {
        let count = self.0.iter().take_while(|found| **found == byte).count();
        self.0 = &self.0[count..];
        count > 0
    }

    /// Skips one of these characters. Returns true if there was one.
    fn skip_one(&mut self, bytes: &[u8]) -> bool {
        let there = self.0.first().is_some_and(|first| bytes.contains(first));
        self.0 = &self.0[usize::from(there)..];
        there
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let there = self.0.get(..word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes()));
        self.0 = &self.0[if there { word.len() } else { 0 }..];
        there
    }

    /// Reads AM as false, PM as true.
    fn half_of_day(&mut self) -> Option<bool> {
        let mut any = |words: [&str; 2]| words.iter().any(|word| self.skip_word(word));
        if any(["AM", "A.M."]) { Some(false) } else { any(["PM", "P.M."]).then_some(true) }
    }

    /// Reads an offset as seconds east of UTC: Z, UTC, GMT, +01, +0100, +01:00.
    fn offset(&mut self) -> Option<i32> {
        if ["UTC", "GMT", "Z"].iter().any(|word| self.skip_word(word)) {
            return Some(0);
        }
        let sign = match self.next()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = self.number(2, 2)?;
        let minutes = if self.skip_one(b":") || self.digits() > 0 { self.number(2, 2)? } else { 0 };
        let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
        (hours < 24 && minutes < 60).then_some(sign * seconds)
    }
}
