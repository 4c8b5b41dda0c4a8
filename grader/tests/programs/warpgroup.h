// warpgroup.h: the results of wgmma as operands of inline assembly, v[0] to v[n - 1], which are the
// first ones.
#pragma once
#define NAMES_4  "%0, %1, %2, %3"
#define NAMES_8  NAMES_4 ", %4, %5, %6, %7"
#define NAMES_12 NAMES_8 ", %8, %9, %10, %11"
#define NAMES_16 NAMES_12 ", %12, %13, %14, %15"
#define NAMES_32 \
    NAMES_16     \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_64                                                                       \
    NAMES_32                                                                           \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
    ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NAMES_128                                                                                  \
    NAMES_64                                                                                       \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"             \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"             \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
    "%127"
#define RESULTS_FROM(i) "+r"(v[i]), "+r"(v[(i) + 1]), "+r"(v[(i) + 2]), "+r"(v[(i) + 3])
#define SIXTEEN_FROM(i) \
    RESULTS_FROM(i), RESULTS_FROM((i) + 4), RESULTS_FROM((i) + 8), RESULTS_FROM((i) + 12)
#define RESULTS_4  RESULTS_FROM(0)
#define RESULTS_8  RESULTS_4, RESULTS_FROM(4)
#define RESULTS_12 RESULTS_8, RESULTS_FROM(8)
#define RESULTS_16 SIXTEEN_FROM(0)
#define RESULTS_32 RESULTS_16, SIXTEEN_FROM(16)
#define RESULTS_64 RESULTS_32, SIXTEEN_FROM(32), SIXTEEN_FROM(48)
#define RESULTS_128 \
    RESULTS_64, SIXTEEN_FROM(64), SIXTEEN_FROM(80), SIXTEEN_FROM(96), SIXTEEN_FROM(112)
