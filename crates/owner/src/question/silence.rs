//! Alarms on times without readings: `silent for 3h`, `temperature silent for 3h`.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};
use sotto_program::text;

use crate::language::{
    Clause, Duration, Name, Parsed, Parser, QuestionError, QuestionErrorKind as Kind, Token, limits, near,
    only_devices, token,
};

/// A condition that holds about a device when no reading came for some time.
///
/// ```text
/// silence = ( "silent" | NAME "silent" | "silent" "(" NAME ")" ) "for" DURATION { clause }
/// clause  = "per" "device"
///         | "where" "device" "in" "(" NAME { "," NAME } ")"
/// ```
///
/// ```
/// use sotto_owner::question::Silence;
///
/// let device: Silence = "silent for 3h".parse()?;
/// assert_eq!((device.channel, device.time.seconds()), (None, 10_800));
/// let channel: Silence = "silent(temperature) for 3h where device in (boiler)".parse()?;
/// assert_eq!(channel.to_string(), "temperature silent for 3h where device in (boiler)");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Silence {
    /// The channel without readings. None: all channels of the device.
    pub channel: Option<String>,
    /// The time without readings.
    pub time: Duration,
    /// The devices of `where device in (…)`. None: all devices.
    pub only: Option<Vec<String>>,
}

/// The word of a silence.
const SILENT: &str = "silent";

/// Words of other tools for a silence.
const OTHER_WORDS: [&str; 9] =
    ["absent", "absent_over_time", "deadman", "missing", "nodata", "no", "offline", "stale", "unavailable"];

impl Silence {
    /// Returns the time without readings, in milliseconds.
    #[must_use]
    pub fn milliseconds(&self) -> i64 {
        i64::try_from(self.time.seconds().saturating_mul(1000)).unwrap_or(i64::MAX)
    }
}

/// Returns a parser of a condition, if it is not too long.
pub(super) fn parser_of(text: &str) -> Parsed<Parser<'_>> {
    if text.len() > limits::QUESTION_BYTES {
        let kind = Kind::TooLong { bytes: text.len() };
        return Err(QuestionError::new(kind, text, text.floor_char_boundary(limits::QUESTION_BYTES)));
    }
    Ok(Parser::new(text))
}

impl Parser<'_> {
    /// Parses a silence; returns None if the text does not begin as one.
    pub(super) fn silence(&mut self) -> Parsed<Option<Silence>> {
        let first = self.peek()?;
        let second = token(self.text, first.end).map(|next| next.token).unwrap_or(Token::End);
        let of_device = match first.token {
            Token::Word(SILENT) => {
                matches!(second, Token::Word("for" | "per" | "where") | Token::Symbol('(') | Token::End)
            }
            Token::Word(word) => {
                self.no_other_word(word, second, first.start)?;
                false
            }
            Token::Quoted(_) => false,
            _ => return Ok(None),
        };
        if of_device {
            self.end = first.end;
            let channel = self.channel_in_brackets()?;
            return self.silence_of(channel).map(Some);
        }
        let Token::Word(word) = second else { return Ok(None) };
        if word != SILENT {
            self.no_near_word(word, first.end)?;
            return Ok(None);
        }
        let channel = self.name("a channel")?;
        self.places.channels.push((channel.clone(), first.start));
        self.word(SILENT)?;
        self.silence_of(Some(channel)).map(Some)
    }

    /// Refuses a word of other tools, and names the own one.
    fn no_other_word(&self, word: &str, second: Token<'_>, at: usize) -> Parsed<()> {
        let lower = word.to_ascii_lowercase();
        let is_alone = !matches!(second, Token::Comparison(_) | Token::Word(SILENT));
        match OTHER_WORDS.into_iter().find(|other| *other == lower).filter(|_| is_alone) {
            Some(_) => Err(self.error(Kind::AlarmSilence { word: text::excerpt(word) }, at)),
            None => Ok(()),
        }
    }

    /// Refuses a word after a channel that is nearly `silent`, or one of other tools for it.
    fn no_near_word(&self, word: &str, after: usize) -> Parsed<()> {
        let at = token(self.text, after).map_or(after, |next| next.start);
        if near(word, &[SILENT]).is_some() || OTHER_WORDS.contains(&word.to_ascii_lowercase().as_str()) {
            return Err(self.error(Kind::AlarmSilence { word: text::excerpt(word) }, at));
        }
        Ok(())
    }

    fn channel_in_brackets(&mut self) -> Parsed<Option<String>> {
        if !self.accept('(')? {
            return Ok(None);
        }
        let at = self.start();
        let channel = self.name("a channel")?;
        self.places.channels.push((channel.clone(), at));
        self.close_after_name()?;
        Ok(Some(channel))
    }

    /// Parses the clauses of a silence.
    fn silence_of(&mut self, channel: Option<String>) -> Parsed<Silence> {
        let (mut time, mut only, mut per) = (None, None, false);
        loop {
            let next = self.peek()?;
            let (at, word) = match (next.token, time) {
                (Token::End, Some(time)) => return Ok(Silence { channel, time, only }),
                (Token::Word(word), _) => (next.start, word),
                (Token::End, None) => return Err(self.error(Kind::SilenceTime, next.start)),
                _ => return Err(self.expected("for 3h, per device, where device in (…) or the end")),
            };
            self.end = next.end;
            match word {
                "for" => {
                    self.once("for", time.is_some(), None, at)?;
                    let at = self.start();
                    time = Some(self.duration().map_err(|_| self.error(Kind::SilenceTime, at))?);
                    self.places.clauses.push((Clause::Period, at));
                }
                "per" => {
                    self.once("per device", per, None, at)?;
                    self.places.clauses.push((Clause::Devices, at));
                    self.device_of_per()?;
                    per = true;
                }
                "where" => {
                    self.once("where", only.is_some(), None, at)?;
                    self.places.clauses.push((Clause::Where, at));
                    self.word("device")?;
                    self.word("in")?;
                    only = Some(self.devices()?);
                }
                word => return Err(self.error(Kind::AlarmClause { word: text::excerpt(word) }, at)),
            }
        }
    }
}

impl Display for Silence {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { channel, time, only } = self;
        channel.as_ref().map_or(Ok(()), |channel| write!(out, "{} ", Name(channel)))?;
        write!(out, "{SILENT} for {time}")?;
        only.as_ref().map_or(Ok(()), |only| only_devices(only, out))
    }
}

impl std::str::FromStr for Silence {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        let read = parser_of(text)?.silence()?;
        read.ok_or_else(|| QuestionError::new(Kind::SilenceTime, text, 0))
    }
}

impl TryFrom<String> for Silence {
    type Error = QuestionError;

    fn try_from(text: String) -> Result<Self, QuestionError> {
        text.parse()
    }
}

impl From<Silence> for String {
    fn from(silence: Silence) -> Self {
        silence.to_string()
    }
}
