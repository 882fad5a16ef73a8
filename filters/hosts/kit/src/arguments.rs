//! Settings of a filter as arguments of a host's function.

use grainfield_filters::recipe::quoted;
use grainfield_filters::settings::{Kind, Setting};

/// A setting by its id, and its values from the host: one text, or several if the host accepts lists.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The setting.
    pub setting: &'static Setting,
    /// The values, as text.
    pub values: Vec<String>,
}

impl Argument {
    /// The text for a recipe. Several numbers for a setting that can be animated are those of frame 0, 1, 2 and so on;
    /// for a position, a colour or planes they are the components.
    pub fn text(&self) -> String {
        match (&self.values[..], self.setting.kind) {
            ([one], _) => one.clone(),
            (many, Kind::Number { .. }) => {
                let keys = many.iter().enumerate().map(|(n, value)| format!("{n}={}", value.trim()));
                keys.collect::<Vec<_>>().join(";")
            }
            (many, _) => many.join(","),
        }
    }
}

/// The chain for a filter's name and arguments.
pub fn chain_text(filter: &str, arguments: &[Argument]) -> String {
    let mut out = String::from(filter);
    for (i, argument) in arguments.iter().enumerate() {
        out.push(if i == 0 { '=' } else { ':' });
        out += argument.setting.id;
        out.push('=');
        quoted(&argument.text(), &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use grainfield_filters::catalog::find;
    use grainfield_filters::recipe::Recipe;

    fn argument(filter: &str, id: &str, values: &[&str]) -> Argument {
        let setting = find(filter).unwrap().settings.iter().find(|s| s.id == id).unwrap();
        Argument { setting, values: values.iter().map(|v| (*v).to_owned()).collect() }
    }

    #[test]
    fn arguments_are_a_chain() {
        let curve = argument("noise", "strength", &["0=0;48~=12"]);
        let text = chain_text("noise", &[curve, argument("noise", "monochrome", &["1"])]);
        let typed = "noise=strength='0=0;48~=12':monochrome=true".parse::<Recipe>().unwrap();
        assert_eq!(text.parse::<Recipe>().unwrap(), typed);
        assert_eq!(chain_text("invert", &[]), "invert");
    }

    #[test]
    fn lists_are_parts_or_frames() {
        let center = chain_text("vignette", &[argument("vignette", "center", &["0.3", "0.6"])]);
        assert_eq!(center.parse::<Recipe>().unwrap(), "vignette=center='0.3,0.6'".parse::<Recipe>().unwrap());
        let numbers = chain_text("noise", &[argument("noise", "strength", &["1", "4", "2.5"])]);
        assert_eq!(
            numbers.parse::<Recipe>().unwrap(),
            "noise=strength='0=1;1=4;2=2.5'".parse::<Recipe>().unwrap()
        );
    }
}
