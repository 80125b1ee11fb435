#include "fuelrail/cli/cli_main.h"

int main(int argc, char** argv) { return fuelrail::cli_main(argc, argv); }
