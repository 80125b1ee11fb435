// FFCV includes OpenCV's header of all parts. Debian's one needs all their packages; FFCV needs these.
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
