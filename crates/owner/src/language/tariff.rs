//! Tariffs: prices by the time of day, the day of the week, the month and the date.

use std::collections::BTreeSet;

use jiff::Zoned;
use serde::{Deserialize, Serialize};
use sotto_program::text;

use super::cycle::Weekday;
use super::dates::{Dates, DaysOf};
use super::limits;
use super::times::{TimeOfDay, Times};

/// Prices, of which the first counts whose conditions hold. Every moment has one.
///
/// ```
/// use sotto_owner::question::Tariff;
///
/// let tariff = Tariff::parse("currency = \"EUR\"\n\n[[prices]]\nprice = 0.18\ntime = \"22:00-06:00\"\n\n[[prices]]\nprice = 0.31\n")?;
/// assert_eq!((tariff.unit.as_str(), tariff.prices.len()), ("kWh", 2));
/// let refused = Tariff::parse("currency = \"EUR\"\n[[prices]]\nprice = 0.18\ntime = \"22:00-06:00\"\n");
/// assert!(refused.unwrap_err().to_string().starts_with("no price holds on a mon in jan at 06:00"));
/// # Ok::<(), sotto_owner::question::TariffError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Tariff {
    /// The currency, which is the unit of the result.
    pub currency: String,
    /// The unit that has the price: `kWh`. Empty for a price of each one.
    pub unit: String,
    /// 1 to [`limits::PRICES`] prices.
    pub prices: Vec<Price>,
}

/// A price, and the times at which it holds.
///
/// Example: [`Tariff`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The price of one unit. It may be negative.
    pub price: f64,
    /// The conditions on the time.
    #[serde(default, skip_serializing_if = "Times::is_all")]
    pub times: Times,
}

/// The reason why a tariff is refused.
///
/// Example: [`Tariff`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TariffError {
    /// The file is longer than the limit.
    #[error("the tariff has {bytes} bytes; at most {} are read", limits::TARIFF_BYTES)]
    TooLong {
        /// Bytes of the file.
        bytes: usize,
    },
    /// The file is not TOML, or has another structure.
    #[error("{0}")]
    Shape(String),
    /// No price, or more than the limit.
    #[error("the tariff has {count} prices: give 1 to {}, each after [[prices]]", limits::PRICES)]
    Prices {
        /// Number of prices.
        count: usize,
    },
    /// A price is infinite or NaN.
    #[error("the price {number} of the tariff is no finite number: write it as 0.31")]
    NotFinite {
        /// The price's number, from 1.
        number: usize,
    },
    /// The currency is empty, too long or has a control character.
    #[error(
        "the currency of the tariff is to have 1 to {} bytes and no control characters: write EUR",
        limits::CURRENCY_BYTES
    )]
    Currency,
    /// A moment without a price.
    #[error(
        "no price holds on a {weekday} in {month} at {time}: give one, or leave the conditions of the last price out"
    )]
    NoPrice {
        /// The day of the week.
        weekday: Weekday,
        /// The month.
        month: String,
        /// The time of day.
        time: String,
    },
}

/// A [`Tariff`] that is not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    currency: String,
    unit: String,
    prices: Vec<Price>,
}

/// The file of a tariff.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    currency: String,
    #[serde(default = "kilowatt_hour")]
    unit: String,
    #[serde(default)]
    prices: Vec<WrittenPrice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrice {
    price: f64,
    time: Option<TimeOfDay>,
    weekday: Option<Weekdays>,
    month: Option<Months>,
    date: Option<WrittenDates>,
}

/// One or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected one value in quotes, or a list of them")]
enum OneOrMore<T> {
    One(T),
    Several(Vec<T>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a month: 1 to 12, or jan, feb, …")]
enum Month {
    Number(u8),
    Word(String),
}

#[derive(Deserialize)]
#[serde(try_from = "OneOrMore<String>")]
struct Weekdays(BTreeSet<Weekday>);

#[derive(Deserialize)]
#[serde(try_from = "OneOrMore<Month>")]
struct Months(BTreeSet<u8>);

#[derive(Deserialize)]
#[serde(try_from = "OneOrMore<String>")]
struct WrittenDates(Dates);

fn kilowatt_hour() -> String {
    "kWh".to_owned()
}

impl<T> OneOrMore<T> {
    fn all(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Several(several) => several,
        }
    }
}

/// Splits `sat, sun`.
fn words(all: &[String]) -> Vec<String> {
    all.iter().flat_map(|text| text.split(',')).map(|word| word.trim().to_owned()).collect()
}

impl TryFrom<OneOrMore<String>> for Weekdays {
    type Error = String;

    fn try_from(all: OneOrMore<String>) -> Result<Self, String> {
        let day = |word: String| {
            let refused = || {
                format!(
                    "{} is no day of the week: write mon, tue, wed, thu, fri, sat or sun",
                    text::excerpt_of(&word, 40)
                )
            };
            Weekday::named(&word).ok_or_else(refused)
        };
        let days = words(&all.all()).into_iter().map(day).collect::<Result<BTreeSet<_>, _>>()?;
        if days.is_empty() {
            Err("name a day of the week, or leave weekday out".to_owned())
        } else {
            Ok(Self(days))
        }
    }
}

impl TryFrom<OneOrMore<Month>> for Months {
    type Error = String;

    fn try_from(all: OneOrMore<Month>) -> Result<Self, String> {
        let of_word = |word: String| {
            let number = super::cycle::month_named(&word).or_else(|| word.parse().ok());
            number.ok_or_else(|| {
                format!("{} is no month: write 1 to 12, or jan, feb, …", text::excerpt_of(&word, 40))
            })
        };
        let of = |month: Month| match month {
            Month::Number(number) => Ok(vec![number]),
            Month::Word(word) => words(&[word]).into_iter().map(of_word).collect::<Result<Vec<_>, _>>(),
        };
        let months = all.all().into_iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let months: BTreeSet<u8> = months.into_iter().flatten().collect();
        match months.iter().find(|month| !(1..=12).contains(*month)) {
            Some(month) => Err(format!("{month} is no month: write 1 to 12, or jan, feb, …")),
            None if months.is_empty() => Err("name a month, or leave month out".to_owned()),
            None => Ok(Self(months)),
        }
    }
}

impl TryFrom<OneOrMore<String>> for WrittenDates {
    type Error = String;

    fn try_from(all: OneOrMore<String>) -> Result<Self, String> {
        let is_date = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
        let days = match all {
            OneOrMore::One(file) if !is_date(&file) => {
                if !(1..=limits::FILE_NAME_BYTES).contains(&file.len()) {
                    return Err("name a file of dates, or dates as 2024-12-25".to_owned());
                }
                DaysOf::File { name: file, days: None }
            }
            all => {
                let words = words(&all.all());
                let ranges = words.iter().map(|word| word.parse()).collect::<Result<BTreeSet<_>, _>>();
                let days =
                    ranges.and_then(TryInto::try_into).map_err(|error: super::NotDays| error.to_string())?;
                DaysOf::List(days)
            }
        };
        Ok(Self(Dates { not: false, days }))
    }
}

impl Tariff {
    /// Reads a tariff from TOML. Days of files are attached later.
    ///
    /// # Errors
    /// [`TariffError`] names the line with the fault, or a moment without a price.
    pub fn parse(text: &str) -> Result<Self, TariffError> {
        if text.len() > limits::TARIFF_BYTES {
            return Err(TariffError::TooLong { bytes: text.len() });
        }
        let written: Written = toml::from_str(text).map_err(|error| TariffError::Shape(error.to_string()))?;
        let price = |written: WrittenPrice| Price {
            price: written.price,
            times: Times {
                time: written.time,
                weekdays: written.weekday.map(|days| days.0).unwrap_or_default(),
                months: written.month.map(|months| months.0).unwrap_or_default(),
                dates: written.date.map(|dates| dates.0),
            },
        };
        let Written { currency, unit, prices } = written;
        Unchecked { currency, unit, prices: prices.into_iter().map(price).collect() }.try_into()
    }

    /// Checks the number of prices, the numbers, and that every moment has a price.
    ///
    /// # Errors
    /// [`TariffError`] names the first fault.
    pub fn check(&self) -> Result<(), TariffError> {
        let count = self.prices.len();
        if !(1..=limits::PRICES).contains(&count) {
            return Err(TariffError::Prices { count });
        }
        let has_control = self.currency.chars().chain(self.unit.chars()).any(char::is_control);
        let fits = |text: &str| text.len() <= limits::CURRENCY_BYTES;
        if self.currency.is_empty() || has_control || !fits(&self.currency) || !fits(&self.unit) {
            return Err(TariffError::Currency);
        }
        if let Some(at) = self.prices.iter().position(|price| !price.price.is_finite()) {
            return Err(TariffError::NotFinite { number: at + 1 });
        }
        self.first_without().map_or(Ok(()), Err)
    }

    /// Returns a moment without a price. Prices on dates are left out: they hold on finitely many days.
    fn first_without(&self) -> Option<TariffError> {
        let always: Vec<&Times> =
            self.prices.iter().map(|price| &price.times).filter(|times| times.dates.is_none()).collect();
        let ends = self.ends();
        let minutes: BTreeSet<u16> = ends.into_iter().filter(|end| *end < 24 * 60).chain([0]).collect();
        for month in 1..=12 {
            for weekday in Weekday::ALL {
                let minute = minutes
                    .iter()
                    .find(|minute| !always.iter().any(|times| times.holds_at(**minute, weekday, month)));
                if let Some(minute) = minute {
                    let month =
                        super::Recurs { month_of_year: Some(month), ..super::Recurs::default() }.to_string();
                    let time = format!("{:02}:{:02}", minute / 60, minute % 60);
                    return Some(TariffError::NoPrice { weekday, month, time });
                }
            }
        }
        None
    }

    /// Returns the ends of its times of day, in minutes after midnight.
    pub(crate) fn ends(&self) -> BTreeSet<u16> {
        self.prices.iter().filter_map(|price| price.times.time).flat_map(TimeOfDay::ends).collect()
    }

    /// Returns the number of the price at a local time, from 0.
    pub(crate) fn price_at(&self, local: &Zoned) -> Option<usize> {
        self.prices.iter().position(|price| price.times.holds(local))
    }

    /// Iterates over the files of days that are not attached yet.
    pub fn missing_days(&self) -> impl Iterator<Item = &str> {
        let files = self.prices.iter().filter_map(|price| price.times.dates.as_ref()?.file());
        files.filter(|(_, days)| days.is_none()).map(|(file, _)| file)
    }

    /// Attaches the days of a file wherever a price names it.
    pub fn attach_days(&mut self, of: &str, days: &super::Days) {
        for dates in self.prices.iter_mut().filter_map(|price| price.times.dates.as_mut()) {
            if let Some((_, slot)) = dates.slot().filter(|(file, _)| *file == of) {
                *slot = Some(days.clone());
            }
        }
    }
}

impl TryFrom<Unchecked> for Tariff {
    type Error = TariffError;

    fn try_from(Unchecked { currency, unit, prices }: Unchecked) -> Result<Self, TariffError> {
        let tariff = Self { currency, unit, prices };
        tariff.check()?;
        Ok(tariff)
    }
}

#[cfg(test)]
mod tests {
    use sotto_pack::Clock;

    use super::*;

    const FILE: &str = r#"currency = "EUR"

[[prices]]
price = 0.10
date = ["2024-12-25..2024-12-26", "2025-01-01"]

[[prices]]
price = 0.18
time = "22:00-06:00"

[[prices]]
price = 0.2
weekday = "sat, sun"
month = [11, "dec", 1]

[[prices]]
price = 0.31
"#;

    #[test]
    fn the_first_price_that_holds_counts() {
        let (tariff, clock) =
            (Tariff::parse(FILE).expect("a tariff"), Clock::new("Europe/Vienna").expect("a zone"));
        for (at, right) in [
            ("2024-12-25T23:00+01:00", 0.1),
            ("2024-12-27T23:00+01:00", 0.18),
            ("2024-12-28T12:00+01:00", 0.2),
            ("2024-10-26T12:00+02:00", 0.31),
            ("2024-12-27T05:59+01:00", 0.18),
            ("2024-12-27T06:00+01:00", 0.31),
        ] {
            let instant: jiff::Timestamp = at.parse().expect(at);
            let price = tariff.price_at(&clock.local(instant.as_millisecond())).expect("a price");
            assert_eq!(tariff.prices[price].price, right, "{at}");
        }
    }

    #[test]
    fn the_form_in_json_is_read_again() {
        let tariff =
            Tariff::parse(&FILE.replace("[\"2024-12-25..2024-12-26\", \"2025-01-01\"]", "\"holidays.txt\""))
                .expect("a tariff");
        assert_eq!(tariff.missing_days().collect::<Vec<_>>(), ["holidays.txt"]);
        let json = serde_json::to_string(&tariff).expect("JSON");
        assert_eq!(serde_json::from_str::<Tariff>(&json).expect("a tariff"), tariff);
        let endless = json.replace("0.31", "1e999");
        assert!(serde_json::from_str::<Tariff>(&endless).is_err());
    }

    #[test]
    fn faults_are_named_with_their_line() {
        for (wrong, says) in [
            ("currency = \"EUR\"\n", "0 prices"),
            ("currency = \"\"\n[[prices]]\nprice = 1\n", "currency"),
            ("[[prices]]\nprice = 1\n", "missing field `currency`"),
            ("currency = \"EUR\"\n[[prices]]\nprice = 1\ntime = \"25:00-06:00\"\n", "line 4"),
            ("currency = \"EUR\"\n[[prices]]\nprice = 1\nweekday = \"son\"\n", "son is no day of the week"),
            ("currency = \"EUR\"\n[[prices]]\nprice = 1\nmonth = 13\n", "13 is no month"),
            ("currency = \"EUR\"\n[[prices]]\nprice = 1\ndate = \"2024-13-01\"\n", "2024-13-01 is no date"),
            ("currency = \"EUR\"\n[[prices]]\nprice = 1\ndays = \"sat\"\n", "line 4"),
            ("currency = \"EUR\"\n[[prices]]\nprice = nan\n", "no finite number"),
            (
                "currency = \"EUR\"\n[[prices]]\nprice = 1\nmonth = [1, 2]\n",
                "no price holds on a mon in mar at 00:00",
            ),
            (
                "currency = \"EUR\"\n[[prices]]\nprice = 1\ndate = \"2024-01-01..2040-01-01\"\n",
                "no price holds",
            ),
            (
                "currency = \"EUR\"\n[[prices]]\nprice = 1\ntime = \"06:00-22:00\"\n[[prices]]\nprice = 2\ntime = \"22:30-06:00\"\n",
                "at 22:00",
            ),
        ] {
            let error = Tariff::parse(wrong).expect_err(wrong).to_string();
            assert!(error.contains(says), "{wrong}: {error}");
        }
        let many = "[[prices]]\nprice = 1\n".repeat(limits::PRICES + 1);
        assert!(matches!(
            Tariff::parse(&format!("currency = \"EUR\"\n{many}")),
            Err(TariffError::Prices { .. })
        ));
    }

    #[test]
    fn prices_that_cover_all_times_need_no_last_one() {
        let text = "currency = \"EUR\"\n[[prices]]\nprice = 1\ntime = \"06:00-22:00\"\n[[prices]]\nprice = 2\ntime = \"22:00-06:00\"\n";
        assert!(Tariff::parse(text).is_ok());
    }
}
