//! Stand-in.
use super::*;
use core::fmt;
/// Stand-in.
#[derive(Debug)]
pub struct Convert(Format);
/// Stand-in.
#[derive(Clone, PartialEq, Debug)]
pub struct ConvertError;
impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no")
    }
}
impl core::error::Error for ConvertError {}
impl Convert {
    /// Stand-in.
    pub fn new(_from: &Format, to: &Format, _level: Level) -> Result<Convert, ConvertError> {
        Ok(Convert(*to))
    }
    /// Stand-in.
    pub fn describe(&self) -> String {
        String::new()
    }
}
impl Filter for Convert {
    fn output(&self) -> &Format {
        &self.0
    }
    fn plan(&self, _at: &Moment) -> Plan {
        Plan::IDLE
    }
    fn render(&self, _: &Moment, _: Option<&State>, _: &mut Band<'_>, _: &mut Scratch) {}
}
