"""ACCV-Lab's processing steps: what a DALI pipeline does with the fields of its samples.

They run on the CPU, and need DALI only when a pipeline is built. docs/processing_steps.md is the
guide.
"""

from __future__ import annotations

from fuelrail.inputs.processing_steps.affine_transformer import AffineTransformer
from fuelrail.inputs.processing_steps.annotation_element_condition_eval import (
    AnnotationElementConditionEval,
)
from fuelrail.inputs.processing_steps.applied_steps import (
    DataGroupArrayInPathElementsAppliedStep,
    DataGroupArrayWithNameElementsAppliedStep,
    DataGroupInPathAppliedStep,
    DataGroupsWithNameAppliedStep,
    GroupToApplyToSelectedStepBase,
)
from fuelrail.inputs.processing_steps.bev_bboxes_transformer_3d import BEVBBoxesTransformer3D
from fuelrail.inputs.processing_steps.bounding_box_to_heatmap_converter import (
    BoundingBoxToHeatmapConverter,
)
from fuelrail.inputs.processing_steps.conditional_element_remover import ConditionalElementRemover
from fuelrail.inputs.processing_steps.field_steps import (
    AxesLayoutSetter,
    PaddingToUniform,
    TensorSizeAdder,
    UnneededFieldRemover,
)
from fuelrail.inputs.processing_steps.image_steps import (
    ImageDecoder,
    ImageMeanStdDevNormalizer,
    ImageRange01Normalizer,
    ImageToTileSizePadder,
)
from fuelrail.inputs.processing_steps.photo_metric_distorter import PhotoMetricDistorter
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.processing_steps.point_steps import CoordinateCropper, PointsInRangeCheck
from fuelrail.inputs.processing_steps.visible_bbox_selector import VisibleBboxSelector

__all__ = [
    "AffineTransformer",
    "AnnotationElementConditionEval",
    "AxesLayoutSetter",
    "BEVBBoxesTransformer3D",
    "BoundingBoxToHeatmapConverter",
    "ConditionalElementRemover",
    "CoordinateCropper",
    "DataGroupArrayInPathElementsAppliedStep",
    "DataGroupArrayWithNameElementsAppliedStep",
    "DataGroupInPathAppliedStep",
    "DataGroupsWithNameAppliedStep",
    "GroupToApplyToSelectedStepBase",
    "ImageDecoder",
    "ImageMeanStdDevNormalizer",
    "ImageRange01Normalizer",
    "ImageToTileSizePadder",
    "PaddingToUniform",
    "PhotoMetricDistorter",
    "PipelineStepBase",
    "PointsInRangeCheck",
    "TensorSizeAdder",
    "UnneededFieldRemover",
    "VisibleBboxSelector",
]
