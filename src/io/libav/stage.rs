//! FFmpeg's filters on the pictures of an input: their graph is made again for pictures of another size or format.

use super::decoder::NextFrame;
use super::error::AvError;
use super::graph::{Graph, GraphInput};
use super::raw::Fields;
use ffmpeg_next::frame;
use std::collections::VecDeque;

/// FFmpeg's filters after the decoder.
pub(crate) struct Stage {
    text: String,
    graph: Option<Graph>,
    /// Size and pixel format for which the graph was made.
    built_for: (i32, i32, i32),
    feed: GraphInput,
    /// Remaining pictures of an older graph.
    ready: VecDeque<frame::Video>,
    ended: bool,
}

impl Stage {
    pub(crate) fn new(text: String, feed: GraphInput) -> Stage {
        Stage { text, graph: None, built_for: (0, 0, 0), feed, ready: VecDeque::new(), ended: false }
    }

    /// The graph, after the first picture.
    pub(crate) fn graph(&self) -> Option<&Graph> {
        self.graph.as_ref()
    }

    /// Whether nothing more will come.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Starts over.
    pub(crate) fn reset(&mut self) {
        (self.graph, self.ended) = (None, false);
        self.ready.clear();
    }

    /// Sends a picture; `None` ends the input.
    pub(crate) fn push(&mut self, picture: Option<frame::Video>) -> Result<(), AvError> {
        let Some(picture) = picture else {
            return match &mut self.graph {
                Some(graph) => graph.push(None),
                None => {
                    self.ended = true;
                    Ok(())
                }
            };
        };
        let f = picture.av();
        let shape = (f.width, f.height, f.format);
        if self.graph.is_none() || shape != self.built_for {
            self.drain()?;
            self.graph = Some(Graph::new(&self.text, &picture, self.feed)?);
            self.built_for = shape;
        }
        self.graph.as_mut().map_or(Ok(()), |graph| graph.push(Some(picture)))
    }

    /// The next picture; `None` if the filters need another one first, or have [`ended`](Self::ended).
    pub(crate) fn pull(&mut self) -> Result<Option<frame::Video>, AvError> {
        if let Some(picture) = self.ready.pop_front() {
            return Ok(Some(picture));
        }
        let Some(graph) = self.graph.as_mut().filter(|_| !self.ended) else { return Ok(None) };
        let mut picture = frame::Video::empty();
        let next = graph.pull(&mut picture)?;
        self.ended = matches!(next, NextFrame::End);
        Ok(matches!(next, NextFrame::Frame).then_some(picture))
    }

    /// Removes the remaining pictures from the graph.
    fn drain(&mut self) -> Result<(), AvError> {
        if let Some(mut graph) = self.graph.take() {
            graph.push(None)?;
            loop {
                let mut picture = frame::Video::empty();
                match graph.pull(&mut picture)? {
                    NextFrame::Frame => self.ready.push_back(picture),
                    NextFrame::NeedsInput | NextFrame::End => break,
                }
            }
        }
        Ok(())
    }
}
